package logsink

func appendCost(dst []byte, c *Cost) []byte {
	if c == nil {
		return dst
	}
	dst = appendInt(dst, `,"cost":{"paid_pusd":`, c.Paid)
	dst = appendInt(dst, `,"uncached_pusd":`, c.Uncached)
	dst = appendOptInt(dst, `,"prefix_pusd":`, c.Prefix)
	dst = appendOptTrue(dst, `,"prefix_estimated":`, c.Estimated)
	dst = appendStr(dst, `,"price":`, c.Price)
	return append(dst, '}')
}

func appendCause(dst []byte, c *Cause) []byte {
	if c == nil {
		return dst
	}
	dst = appendStr(dst, `,"cause":{"name":`, c.Name)
	dst = appendStr(dst, `,"owner":`, c.Owner)
	dst = appendOptStr(dst, `,"section":`, c.Section)
	dst = appendPlace(dst, `,"offset":`, c.Offset)
	dst = appendPlace(dst, `,"index":`, c.Index)
	dst = appendOptStr(dst, `,"detail":`, c.Detail)
	dst = appendOptInt(dst, `,"expected":`, c.Expected)
	dst = appendOptInt(dst, `,"missed":`, c.Missed)
	dst = appendOptInt(dst, `,"lost_pusd":`, c.Lost)
	dst = appendOptTrue(dst, `,"waste":`, c.Waste)
	dst = appendOptStr(dst, `,"against":`, c.Against)
	dst = appendOptStr(dst, `,"provider":`, c.Provider)
	return append(dst, '}')
}

func appendPlace(dst []byte, name string, at *int) []byte {
	if at == nil {
		return dst
	}
	return appendInt(dst, name, int64(*at))
}
