package provider

import "bytes"

// lineEnds writes an event with other line ends. The data of events has no
// line feeds of its own: JSON escapes them.
func lineEnds(event []byte, name string) []byte {
	switch name {
	case "crlf":
		return bytes.ReplaceAll(event, []byte("\n"), []byte("\r\n"))
	case "cr":
		return bytes.ReplaceAll(event, []byte("\n"), []byte("\r"))
	}
	return event
}
