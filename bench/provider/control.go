package provider

import (
	"encoding/hex"
	"io"
	"net/http"
	"strconv"
	"strings"
	"time"
)

// serveControl answers what tests in other processes ask:
//
//	GET  /__provider/requests   the ledger as a JSON list; ?after=ID leaves out
//	                            older ones, ?bodies=1 adds bodies and answers
//	GET  /__provider/stats      totals, of all and of each tenant
//	GET  /__provider/open       {"open": requests, "connections": n}
//	POST /__provider/fault      the body is the standing fault, as ParseFault
//	                            reads it; an empty one ends it
func (p *Provider) serveControl(w http.ResponseWriter, r *http.Request) {
	switch r.Method + " " + strings.TrimPrefix(r.URL.Path, controlPrefix) {
	case "GET requests":
		p.serveRequests(w, r)
	case "GET stats":
		byTenant, all := p.Totals()
		writeJSON(w, object{"all": all, "tenants": byTenant})
	case "GET open":
		writeJSON(w, object{"open": p.Open(), "connections": p.Conns()})
	case "POST fault":
		p.serveFault(w, r)
	default:
		http.NotFound(w, r)
	}
}

func writeJSON(w http.ResponseWriter, v any) {
	w.Header().Set("Content-Type", "application/json")
	_, _ = w.Write(mustJSON(v)) // nobody is left to tell
}

func (p *Provider) serveFault(w http.ResponseWriter, r *http.Request) {
	const most = 4096
	text, err := io.ReadAll(io.LimitReader(r.Body, most))
	if err != nil {
		http.Error(w, err.Error(), http.StatusBadRequest)
		return
	}
	f, err := ParseFault(strings.TrimSpace(string(text)))
	if err != nil {
		http.Error(w, err.Error(), http.StatusBadRequest)
		return
	}
	p.SetFault(f)
	writeJSON(w, object{"fault": f.String()})
}

// A listed exchange is an Exchange as the control endpoint shows it. Header
// values that are credentials are not shown.
type listed struct {
	ID         int       `json:"id"`
	Conn       int       `json:"conn"`
	Method     string    `json:"method"`
	Path       string    `json:"path"`
	Query      string    `json:"query,omitempty"`
	Header     []Field   `json:"header"`
	BodySize   int64     `json:"body_size"`
	SHA256     string    `json:"body_sha256"`
	Body       []byte    `json:"body,omitempty"` // base64
	Dialect    string    `json:"dialect,omitempty"`
	Model      string    `json:"model,omitempty"`
	Tenant     string    `json:"tenant,omitempty"`
	Fault      string    `json:"fault,omitempty"`
	Status     int       `json:"status,omitempty"`
	AnswerSize int64     `json:"answer_size"`
	Answer     []byte    `json:"answer,omitempty"` // base64
	Tokens     Tokens    `json:"tokens"`
	FirstByte  time.Time `json:"first_byte_at"`
	Received   time.Time `json:"received_at,omitzero"`
	Answered   time.Time `json:"answer_at,omitzero"`
	Ended      time.Time `json:"ended_at,omitzero"`
	Gone       time.Time `json:"gone_at,omitzero"`
	Complete   bool      `json:"complete"`
	Aborted    bool      `json:"aborted"`
}

func (p *Provider) serveRequests(w http.ResponseWriter, r *http.Request) {
	after, _ := strconv.Atoi(r.URL.Query().Get("after")) // absent or wrong is 0: all
	bodies := r.URL.Query().Get("bodies") != ""
	out := []listed{}
	for _, e := range p.ReceivedAfter(after) {
		out = append(out, e.listed(bodies))
	}
	writeJSON(w, out)
}

func (e *Exchange) listed(bodies bool) listed {
	l := listed{
		ID: e.ID, Conn: e.Conn, Method: e.Method, Path: e.Path, Query: e.Query, BodySize: e.BodySize,
		SHA256: hex.EncodeToString(e.SHA256[:]), Dialect: e.Dialect, Model: e.Model, Tenant: e.Tenant, Fault: e.Fault.String(),
		Status: e.Status, AnswerSize: e.AnswerSize, Tokens: e.Tokens, FirstByte: e.FirstByteAt, Received: e.ReceivedAt,
		Answered: e.AnswerAt, Ended: e.EndedAt, Gone: e.GoneAt, Complete: e.Complete, Aborted: e.Aborted(),
	}
	for _, h := range e.Header {
		if strings.EqualFold(h.Name, "authorization") || strings.EqualFold(h.Name, "x-api-key") || strings.EqualFold(h.Name, "cookie") {
			h.Value = "(hidden)"
		}
		l.Header = append(l.Header, h)
	}
	if bodies {
		l.Body, l.Answer = e.Body, e.Answer
	}
	return l
}
