package jsonspan

// Portable lets plain do nothing, as on other processors, until it is undone.
func Portable() (undo func()) {
	was := wide
	wide = false
	return func() { wide = was }
}

// Wide reports whether plain does anything here.
func Wide() bool { return wide }
