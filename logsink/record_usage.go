package logsink

func appendUsage(dst []byte, u *Usage) []byte {
	if u == nil {
		return dst
	}
	dst = append(dst, `,"usage":`...)
	open := len(dst)
	dst = appendIntPtr(dst, `,"fresh":`, u.Fresh)
	dst = appendIntPtr(dst, `,"unsplit":`, u.Unsplit)
	dst = appendIntPtr(dst, `,"cache_read":`, u.CacheRead)
	dst = appendIntPtr(dst, `,"cache_write_5m":`, u.Write5m)
	dst = appendIntPtr(dst, `,"cache_write_1h":`, u.Write1h)
	dst = appendIntPtr(dst, `,"cache_write_30m":`, u.Write30m)
	dst = appendIntPtr(dst, `,"cache_write_other":`, u.WriteOther)
	dst = appendIntPtr(dst, `,"output":`, u.Output)
	dst = appendIntPtr(dst, `,"reasoning":`, u.Reasoning)
	if len(dst) == open {
		return append(dst, `{}`...)
	}
	dst[open] = '{' // in place of the first comma
	return append(dst, '}')
}

func appendIterations(dst []byte, list []Iteration) []byte {
	if len(list) == 0 {
		return dst
	}
	dst = append(dst, `,"iterations":`...)
	sep := byte('[')
	for i := range list {
		dst = append(dst, sep)
		sep = ','
		open := len(dst)
		dst = appendOptStr(dst, `,"model":`, list[i].Model)
		dst = appendUsage(dst, list[i].Usage)
		if len(dst) == open {
			dst = append(dst, '{')
		}
		dst[open] = '{' // in place of the first comma
		dst = append(dst, '}')
	}
	return append(dst, ']')
}
