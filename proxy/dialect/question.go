package dialect

import (
	"bytes"
	"regexp"
	"strconv"

	"github.com/seed-9236c7ca/preface/proxy/internal/jsonspan"
)

// A Question is where and how a request may ask the provider itself what its
// cache missed since an earlier answer. It is the zero Question if the dialect
// has no such question for the request: the model does not know it, or the
// request's kind.
type Question struct {
	// At is where the question would be inserted, 0 if it may not be: the client
	// has its own, or the body is to stay as it is.
	At int
	// Own says that the client asks itself, and Named about which answer, as
	// written without its quotes; nil if it names none.
	Own   bool
	Named []byte
	// Beta must then be in the header anthropic-beta, if it is not empty. All
	// requests of a thread should have it, or none: betas may be part of a
	// cache's key.
	Beta string

	before, after, first string
}

// KindVerdict is the kind of a Splice that asks the provider for its verdict.
const KindVerdict = "verdict"

// Ask returns the insertion that asks about the answer with an id, and whether
// there is one. An empty id is that of no answer: Anthropic is told then that
// the next request will ask about this one.
func (q *Question) Ask(id string) (Splice, bool) {
	switch {
	case q.At == 0 || id != "" && !isAnswerID(id) || id == "" && q.first == "":
		return Splice{}, false
	case id == "":
		return Splice{q.At, []byte(q.first), KindVerdict}, true
	}
	return Splice{q.At, []byte(q.before + strconv.Quote(id) + q.after), KindVerdict}, true
}

// isAnswerID reports whether an id needs no escaping in JSON and is as long as
// such ids are.
func isAnswerID(id string) bool { return answerID.MatchString(id) }

var answerID = regexp.MustCompile(`^[A-Za-z0-9_.-]{1,128}$`)

// readAnthropicQuestion: the vendor's first-party API alone knows it
// (facts/providers.md 1.8). A request whose body a provider compares with
// another's byte for byte (fallback credit) is left alone.
func (r *Request) readAnthropicQuestion(root jsonspan.Value) {
	asked := root.Get("diagnostics")
	if asked.Exists() {
		r.Question = Question{Own: true, Named: inner(asked.Get("previous_message_id"))}
		return
	}
	if root.Get("fallbacks").Exists() || root.Get("fallback_credit_token").Exists() {
		return
	}
	r.Question = Question{
		At: root.Span().From + len("{"), Beta: "cache-diagnosis-2026-04-07",
		before: `"diagnostics":{"previous_message_id":`, after: `},`, first: `"diagnostics":{"previous_message_id":null},`,
	}
}

// readResponsesQuestion: GPT-5.6 and later know it, and older models refuse the
// options as a whole (facts/providers.md 2.4, 2.6). Chat has no such question.
func (r *Request) readResponsesQuestion(root jsonspan.Value) {
	options := root.Get("prompt_cache_options")
	asked := options.Get("comparison_response_id")
	if asked.Exists() {
		r.Question = Question{Own: true, Named: inner(asked)}
		return
	}
	if !comparesAnswersOf(r.Model) {
		return
	}
	switch {
	case !options.Exists():
		r.Question = Question{At: root.Span().From + len("{"), before: `"prompt_cache_options":{"comparison_response_id":`, after: `},`}
	case options.Kind() == jsonspan.Object && options.Len() == 0:
		r.Question = Question{At: options.Span().From + len("{"), before: `"comparison_response_id":`}
	case options.Kind() == jsonspan.Object:
		r.Question = Question{At: options.Span().From + len("{"), before: `"comparison_response_id":`, after: `,`}
	}
}

// comparesAnswersOf reports whether a model is GPT-5.6 or later. It is read by
// hand: a request is read without an allocation.
func comparesAnswersOf(model []byte) bool {
	rest, ok := bytes.CutPrefix(model, []byte("gpt-"))
	major, rest := leadingNumber(rest)
	minor := 0
	if after, dot := bytes.CutPrefix(rest, []byte(".")); dot {
		minor, rest = leadingNumber(after)
	}
	named := len(rest) == 0 || rest[0] == '-'
	return ok && named && (major > 5 || major == 5 && minor >= 6)
}

// leadingNumber reads up to two digits.
func leadingNumber(b []byte) (n int, rest []byte) {
	i := 0
	for ; i < min(len(b), 2) && '0' <= b[i] && b[i] <= '9'; i++ {
		n = 10*n + int(b[i]-'0')
	}
	return n, b[i:]
}
