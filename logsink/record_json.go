package logsink

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
)

// AppendJSON appends the record to dst as one line of JSON without a line end:
// "kind", then the fields of the record by their tags. It is what the log
// stores, and what `log` commands print. Strings that are not UTF-8 are made so
// with U+FFFD. A Record with no pointer set appends nothing.
func (r Record) AppendJSON(dst []byte) []byte {
	switch {
	case r.Request != nil:
		return appendRequest(dst, r.Request)
	case r.Response != nil:
		return appendResponse(dst, r.Response)
	case r.Header != nil:
		return appendHeader(dst, r.Header)
	case r.Anchor != nil:
		return appendAnchor(dst, r.Anchor)
	}
	return dst
}

func appendRequest(dst []byte, r *Request) []byte {
	dst = appendHead(dst, KindRequest, r.V, r.ID, r.Key, r.Epoch)
	dst = appendStr(dst, `,"thread":`, r.Thread)
	dst = appendInt(dst, `,"number":`, r.Number)
	dst = appendInt(dst, `,"attempt":`, int64(r.Attempt))
	dst = appendStr(dst, `,"header":`, r.Header)
	dst = appendStr(dst, `,"dialect":`, r.Dialect)
	dst = appendStr(dst, `,"route":`, r.Route)
	dst = appendStr(dst, `,"path":`, r.Path)
	dst = appendOptStr(dst, `,"model":`, r.Model)
	dst = appendStr(dst, `,"class":`, r.Class)
	dst = appendOptTrue(dst, `,"stream":`, r.Stream)
	dst = appendStr(dst, `,"decision":`, r.Decision)
	dst = appendOptStr(dst, `,"why":`, r.Why)
	dst = appendInt(dst, `,"messages":`, int64(r.Messages))
	dst = appendOptStr(dst, `,"lineage":`, r.Lineage)
	dst = appendSplices(dst, r.Splices)
	dst = appendDigest(dst, `,"body":`, r.Body)
	dst = appendInt(dst, `,"size":`, int64(r.Size))
	dst = appendOptInt(dst, `,"marks":`, int64(r.Marks))
	dst = appendTime(dst, `,"time":`, r.Time)
	dst = appendOptTrue(dst, `,"derived":`, r.Derived)
	return append(dst, '}')
}

func appendSplices(dst []byte, splices []Splice) []byte {
	if len(splices) == 0 {
		return dst
	}
	dst = append(dst, `,"splices":`...)
	sep := byte('[')
	for i := range splices {
		s := &splices[i]
		dst = append(dst, sep)
		sep = ','
		dst = appendInt(dst, `{"offset":`, int64(s.Offset))
		dst = appendInt(dst, `,"length":`, int64(s.Length))
		dst = appendStr(dst, `,"kind":`, s.Kind)
		dst = appendOptStr(dst, `,"rendering":`, s.Rendering)
		dst = appendOptInt(dst, `,"from":`, int64(s.From))
		dst = append(dst, '}')
	}
	return append(dst, ']')
}

func appendResponse(dst []byte, r *Response) []byte {
	dst = appendHead(dst, KindResponse, r.V, r.ID, r.Key, r.Epoch)
	dst = appendStr(dst, `,"thread":`, r.Thread)
	dst = appendOptInt(dst, `,"status":`, int64(r.Status))
	dst = appendInt(dst, `,"first_byte_ns":`, int64(r.FirstByte))
	dst = appendInt(dst, `,"total_ns":`, int64(r.Total))
	dst = appendInt(dst, `,"bytes":`, r.Bytes)
	dst = appendStr(dst, `,"end":`, r.End)
	dst = appendOptStr(dst, `,"detail":`, r.Detail)
	dst = appendOptStr(dst, `,"upstream":`, r.UpstreamID)
	dst = appendOptStr(dst, `,"response":`, r.ResponseID)
	dst = appendUsage(dst, r.Usage)
	dst = appendIterations(dst, r.Iterations)
	dst = appendOptStr(dst, `,"stop_reason":`, r.StopReason)
	dst = appendOptStr(dst, `,"model":`, r.Model)
	dst = appendOptStr(dst, `,"tier":`, r.Tier)
	dst = appendCost(dst, r.Cost)
	dst = appendOptStr(dst, `,"unpriced":`, r.Unpriced)
	dst = appendCause(dst, r.Cause)
	dst = appendTime(dst, `,"time":`, r.Time)
	return append(dst, '}')
}

func appendHeader(dst []byte, h *Header) []byte {
	dst = appendHead(dst, KindHeader, h.V, h.ID, h.Key, h.Epoch)
	dst = appendStr(dst, `,"thread":`, h.Thread)
	dst = appendStr(dst, `,"reason":`, h.Reason)
	dst = appendParts(dst, h.Parts)
	dst = appendStrings(dst, `,"changed":`, h.Changed)
	dst = appendOptStr(dst, `,"model":`, h.Model)
	dst = appendTime(dst, `,"time":`, h.Time)
	return append(dst, '}')
}

func appendParts(dst []byte, parts []Part) []byte {
	if len(parts) == 0 {
		return dst
	}
	dst = append(dst, `,"parts":`...)
	sep := byte('[')
	for i := range parts {
		p := &parts[i]
		dst = append(dst, sep)
		sep = ','
		dst = appendStr(dst, `{"name":`, p.Name)
		dst = appendDigest(dst, `,"digest":`, p.Digest)
		dst = appendInt(dst, `,"size":`, int64(p.Size))
		if p.Stored {
			dst = append(dst, `,"stored":true}`...)
		} else {
			dst = append(dst, `,"stored":false}`...)
		}
	}
	return append(dst, ']')
}

func appendStrings(dst []byte, name string, list []string) []byte {
	if len(list) == 0 {
		return dst
	}
	dst = append(dst, name...)
	sep := byte('[')
	for _, s := range list {
		dst = appendJSONString(append(dst, sep), s)
		sep = ','
	}
	return append(dst, ']')
}

func appendAnchor(dst []byte, a *Anchor) []byte {
	dst = appendHead(dst, KindAnchor, a.V, "", a.Key, a.Epoch)
	dst = appendStr(dst, `,"reason":`, a.Reason)
	dst = appendStr(dst, `,"decision":`, a.Decision)
	dst = appendOptStr(dst, `,"why":`, a.Why)
	dst = appendOptStr(dst, `,"prefix":`, a.Prefix)
	if len(a.Messages) > 0 {
		dst = appendMessages(append(dst, `,"messages":`...), a.Messages)
	}
	dst = appendRenderings(dst, a.Renderings)
	dst = appendContributors(dst, a.Contributors)
	dst = appendOptStr(dst, `,"route":`, a.Route)
	dst = appendOptStr(dst, `,"source":`, a.Source)
	dst = appendOptStr(dst, `,"resume":`, a.Resume)
	dst = appendOptStr(dst, `,"config":`, a.Config)
	dst = appendOptStr(dst, `,"preface":`, a.Preface)
	dst = appendTime(dst, `,"time":`, a.Time)
	return append(dst, '}')
}

func appendRenderings(dst []byte, list []Rendering) []byte {
	if len(list) == 0 {
		return dst
	}
	dst = append(dst, `,"renderings":`...)
	sep := byte('[')
	for i := range list {
		r := &list[i]
		dst = append(dst, sep)
		sep = ','
		dst = appendStr(dst, `{"name":`, r.Name)
		dst = appendStr(dst, `,"sha256":`, r.SHA256)
		dst = appendInt(dst, `,"size":`, int64(r.Size))
		dst = appendDigest(dst, `,"blob":`, r.Blob)
		dst = append(dst, '}')
	}
	return append(dst, ']')
}

func appendContributors(dst []byte, list []Contribution) []byte {
	if len(list) == 0 {
		return dst
	}
	dst = append(dst, `,"contributors":`...)
	sep := byte('[')
	for i := range list {
		c := &list[i]
		dst = append(dst, sep)
		sep = ','
		dst = appendStr(dst, `{"name":`, c.Name)
		dst = appendStr(dst, `,"kind":`, c.Kind)
		dst = appendOptStr(dst, `,"sha256":`, c.SHA256)
		dst = appendInt(dst, `,"bytes":`, int64(c.Bytes))
		dst = appendInt(dst, `,"messages":`, int64(c.Messages))
		dst = appendInt(dst, `,"took_ns":`, int64(c.Took))
		dst = appendStr(dst, `,"outcome":`, c.Outcome)
		dst = append(dst, '}')
	}
	return append(dst, ']')
}

// appendHead writes what all kinds begin with; an anchor has no id.
func appendHead(dst []byte, kind Kind, v int, id string, k Key, epoch int) []byte {
	dst = appendStr(dst, `{"kind":`, string(kind))
	dst = appendInt(dst, `,"v":`, int64(v))
	if kind != KindAnchor {
		dst = appendStr(dst, `,"id":`, id)
	}
	dst = appendStr(dst, `,"tenant":`, k.Tenant)
	dst = appendStr(dst, `,"session":`, k.Session)
	return appendInt(dst, `,"epoch":`, int64(epoch))
}

// ParseRecord reads a line that AppendJSON wrote, by this version or an older
// one. Fields that it does not know are ignored; a record of a newer layout is
// refused with ErrNewer. It keeps nothing of line. An anchor's renderings have
// no Bytes.
func ParseRecord(line []byte) (Record, error) {
	var head struct {
		Kind Kind `json:"kind"`
		V    int  `json:"v"`
	}
	if err := json.Unmarshal(line, &head); err != nil {
		return Record{}, fmt.Errorf("cannot read a record of %d bytes: %w", len(line), err)
	}
	if head.V > Version {
		return Record{}, fmt.Errorf("cannot read a record of layout %d, this program knows up to %d: %w", head.V, Version, ErrNewer)
	}
	r, into := newRecord(head.Kind)
	if into == nil {
		return Record{}, fmt.Errorf("cannot read a record of %d bytes: no kind of record is %q", len(line), head.Kind)
	}
	if err := json.Unmarshal(line, into); err != nil {
		return Record{}, fmt.Errorf("cannot read a record of %d bytes: %w", len(line), err)
	}
	return r, nil
}

// newRecord returns an empty record of a kind and the pointer to decode into.
func newRecord(kind Kind) (r Record, into any) {
	switch kind {
	case KindAnchor:
		r.Anchor = new(Anchor)
		return r, r.Anchor
	case KindHeader:
		r.Header = new(Header)
		return r, r.Header
	case KindRequest:
		r.Request = new(Request)
		return r, r.Request
	case KindResponse:
		r.Response = new(Response)
		return r, r.Response
	}
	return r, nil
}

var errNoMessages = errors.New("it is not a list of messages")

// parseMessages reads the canonical JSON of PrefixHash.
func parseMessages(canonical []byte) ([]Message, error) {
	var msgs []Message
	if err := json.Unmarshal(canonical, &msgs); err != nil {
		return nil, err
	}
	if !bytes.Equal(appendMessages(nil, msgs), canonical) {
		return nil, errNoMessages
	}
	return msgs, nil
}
