package contrib

import (
	"context"
	"crypto/sha256"
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"
)

// A fake is a contributor that is a function.
type fake func(ctx context.Context, s Session, list []Message) ([]Message, error)

func (f fake) Contribute(ctx context.Context, s Session, list []Message) ([]Message, error) {
	return f(ctx, s, list)
}

// gives is a fake that appends messages.
func gives(ms ...Message) fake {
	return func(_ context.Context, _ Session, list []Message) ([]Message, error) {
		return append(list, ms...), nil
	}
}

// composerOf makes a Composer of contributors that no kind makes.
func composerOf(steps ...*step) *Composer { return &Composer{steps: steps} }

func stepOf(name string, f fake) *step { return patient(Config{Name: name, Kind: "fake"}, f) }

// patient is newStep with a deadline that no slow machine reaches.
func patient(cfg Config, f fake) *step {
	cfg.Deadline = time.Minute
	return newStep(cfg, f)
}

func compose(t *testing.T, c *Composer, s Session) Result {
	t.Helper()
	r, err := c.Compose(t.Context(), s)
	if err != nil {
		t.Fatalf("Compose(%q) = %v, want messages", s.Session, err)
	}
	return r
}

func TestComposeIsAWaterfallInOrder(t *testing.T) {
	var seen []Message
	c := composerOf(
		stepOf("a", gives(Message{Text: "one"}, Message{Role: "assistant", Text: "two"})),
		patient(Config{Name: "b", Kind: "fake", Role: "developer", Envelope: "note"}, fake(
			func(_ context.Context, _ Session, list []Message) ([]Message, error) {
				seen = slices.Clone(list)
				return append(list, Message{Text: "three"}), nil
			})),
		patient(Config{Name: "c", Kind: "fake", When: Matcher{Route: "other"}}, gives(Message{Text: "never"})),
		stepOf("d", gives()),
	)
	r := compose(t, c, Session{Route: "r"})
	first := []Message{{"user", "one"}, {"assistant", "two"}}
	if diff := cmp.Diff(first, seen); diff != "" {
		t.Errorf("the second contributor saw another list (-want +got):\n%s", diff)
	}
	third := []Message{{"developer", "<note>\nthree\n</note>"}}
	want := Result{
		Messages: slices.Concat(first, third),
		Contributions: []Contribution{
			{Name: "a", Kind: "fake", SHA256: digest(first), Bytes: 6, Messages: 2, Outcome: OK},
			{Name: "b", Kind: "fake", SHA256: digest(third), Bytes: 20, Messages: 1, Outcome: OK},
			{Name: "c", Kind: "fake", Outcome: NoMatch},
			{Name: "d", Kind: "fake", Outcome: Empty},
		},
	}
	if diff := cmp.Diff(want, r, cmpopts.IgnoreFields(Contribution{}, "Took")); diff != "" {
		t.Errorf("Compose differs (-want +got):\n%s", diff)
	}
	for i, from := range [][]Message{first, third, nil, nil} {
		if got := r.From(i); !slices.Equal(got, from) {
			t.Errorf("From(%d) = %v, want %v", i, got, from)
		}
	}
}

func TestDigestIsOfPlainJSON(t *testing.T) {
	want := fmt.Sprintf("%x", sha256.Sum256([]byte(`[{"role":"user","text":"<a> & b"}]`)))
	if got := digest([]Message{{"user", "<a> & b"}}); got != want {
		t.Errorf("digest = %s, want that of the JSON without HTML escapes, %s", got, want)
	}
}

func TestI13_EmptyCompositionIsNoMessage(t *testing.T) {
	for name, c := range map[string]*Composer{
		"no contributor":    composerOf(),
		"nothing appended":  composerOf(stepOf("a", gives())),
		"empty text":        composerOf(stepOf("a", gives(Message{Text: ""}))),
		"blank text":        composerOf(stepOf("a", gives(Message{Text: " \r\n\t\u00a0"}))),
		"blank in envelope": composerOf(patient(Config{Envelope: "x"}, gives(Message{Text: "\n"}))),
	} {
		if r := compose(t, c, Session{}); r.Messages != nil {
			t.Errorf("%s: Compose gave %v, want nil", name, r.Messages)
		}
	}
}

func TestInvariant1_OnlyAnExtensionIsTaken(t *testing.T) {
	earlier := stepOf("first", gives(Message{Text: "one"}, Message{Text: "two"}))
	for name, f := range map[string]fake{
		"text": func(_ context.Context, _ Session, l []Message) ([]Message, error) { l[0].Text = "One"; return l, nil },
		"role": func(_ context.Context, _ Session, l []Message) ([]Message, error) {
			l[1].Role = "system"
			return l, nil
		},
		"order":   func(_ context.Context, _ Session, l []Message) ([]Message, error) { slices.Reverse(l); return l, nil },
		"shorter": func(_ context.Context, _ Session, l []Message) ([]Message, error) { return l[:1], nil },
		"before": func(_ context.Context, _ Session, l []Message) ([]Message, error) {
			return slices.Insert(l, 0, Message{Text: "zero"}), nil
		},
		"nothing": func(context.Context, Session, []Message) ([]Message, error) { return nil, nil },
	} {
		r, err := composerOf(earlier, stepOf("bad", f)).Compose(t.Context(), Session{})
		if want := `contributor "bad": changed earlier messages`; err == nil || !strings.HasPrefix(err.Error(), want) {
			t.Errorf("%s: Compose = %v, want %s", name, err, want)
		}
		if r.Messages != nil || r.Contributions != nil {
			t.Errorf("%s: Compose gave %+v beside an error, want nothing", name, r)
		}
	}
}

func TestInvariant1_ListIsACopy(t *testing.T) {
	var kept [][]Message
	keep := func(_ context.Context, _ Session, l []Message) ([]Message, error) {
		l = append(l, Message{Text: "mine"})
		kept = append(kept, l)
		return l, nil
	}
	r := compose(t, composerOf(stepOf("a", keep), stepOf("b", keep)), Session{})
	want := slices.Clone(r.Messages)
	for _, l := range kept {
		for i := range l {
			l[i].Text = "changed afterwards"
		}
	}
	if diff := cmp.Diff(want, r.Messages); diff != "" {
		t.Errorf("a contributor that keeps its list changed the result (-want +got):\n%s", diff)
	}
}

// A contributor that reuses one backing array for all sessions, as apisix's
// prefix table was.
func TestCaseB1_NoTextOfAnotherSession(t *testing.T) {
	table := make([]Message, 0, 16)
	shared := map[string]string{}
	alias := func(_ context.Context, s Session, l []Message) ([]Message, error) {
		table = append(append(table[:0], l...), Message{Text: "for " + s.Session})
		for n, v := range s.Headers {
			shared[n] = v
		}
		s.Headers["x-user"] = "overwritten"
		return table, nil
	}
	cfg := Config{Kind: "fake", ForwardHeaders: []string{"x-user"}}
	c := composerOf(patient(cfg, fake(alias)), patient(cfg, fake(alias)))
	headers := map[string]string{"x-user": "ann"}
	a := compose(t, c, Session{Session: "ann", Headers: headers})
	b := compose(t, c, Session{Session: "bob", Headers: map[string]string{"x-user": "bob"}})
	if want := []Message{{"user", "for ann"}, {"user", "for ann"}}; !slices.Equal(a.Messages, want) {
		t.Errorf("the first session's messages became %v, want %v", a.Messages, want)
	}
	if want := []Message{{"user", "for bob"}, {"user", "for bob"}}; !slices.Equal(b.Messages, want) {
		t.Errorf("the second session's messages are %v, want %v", b.Messages, want)
	}
	if headers["x-user"] != "ann" {
		t.Errorf("a contributor changed the caller's headers to %v", headers)
	}
}

// The composed messages are what each attempt starts from: composing again
// neither repeats nor changes them.
func TestCaseB2_ComposingAgainGivesTheSameOnce(t *testing.T) {
	c, err := NewComposer([]Config{{Kind: "text", Deadline: time.Minute, Text: "opener"}, {Kind: "text", Deadline: time.Minute, Text: "more", Envelope: "note"}})
	if err != nil {
		t.Fatal(err)
	}
	first := compose(t, c, Session{})
	if diff := cmp.Diff(first.Messages, compose(t, c, Session{}).Messages); diff != "" {
		t.Errorf("the second attempt differs (-first +second):\n%s", diff)
	}
	if len(first.Messages) != 2 {
		t.Errorf("Compose gave %v, want each text once", first.Messages)
	}
}

func TestCaseB16_RolesAreCheckedWhereTheyEnter(t *testing.T) {
	for _, role := range []string{"user", "assistant", "developer", "system"} {
		c, err := NewComposer([]Config{{Kind: "text", Deadline: time.Minute, Text: "x", Role: role}})
		if err != nil {
			t.Errorf("NewComposer with role %q = %v, want nil", role, err)
			continue
		}
		if got := compose(t, c, Session{}).Messages[0].Role; got != role {
			t.Errorf("Compose with role %q gave role %q", role, got)
		}
	}
	for _, role := range []string{"tool", "User", "function", "model", " user"} {
		want := fmt.Sprintf("cannot use role %q: want user, assistant, developer or system", role)
		_, err := NewComposer([]Config{{Name: "policy", Kind: "text", Deadline: time.Minute, Text: "x", Role: role}})
		if got := fmt.Sprint(err); got != `contributor "policy": `+want {
			t.Errorf("NewComposer with role %q = %v, want %s", role, err, want)
		}
		_, err = composerOf(stepOf("svc", gives(Message{Role: role, Text: "x"}))).Compose(t.Context(), Session{})
		if got := fmt.Sprint(err); got != `contributor "svc": message 0: `+want {
			t.Errorf("Compose of a message with role %q = %v, want %s", role, err, want)
		}
	}
}

// What fails is refused or skipped as the operator said, with the reason
// recorded: a failure never passes for an opener that is just shorter.
func TestCaseB17_FailureIsRefusedOrRecorded(t *testing.T) {
	broken := errors.New("bad variable")
	fails := fake(func(context.Context, Session, []Message) ([]Message, error) { return nil, broken })
	ok := stepOf("ok", gives(Message{Text: "text"}))

	r, err := composerOf(ok, stepOf("svc", fails)).Compose(t.Context(), Session{})
	var e *Error
	if !errors.As(err, &e) || e.Contributor != "svc" || !errors.Is(err, broken) || r.Messages != nil {
		t.Errorf("Compose = %v, %v, want nothing and the error of svc", r.Messages, err)
	}

	skips := patient(Config{Name: "svc", Kind: "fake", OnError: Skip}, fails)
	got := compose(t, composerOf(skips, ok), Session{})
	if want := []Message{{"user", "text"}}; !slices.Equal(got.Messages, want) {
		t.Errorf("Compose with on_error skip = %v, want %v", got.Messages, want)
	}
	if want := "skipped: bad variable"; got.Contributions[0].Outcome != want {
		t.Errorf("outcome = %q, want %q", got.Contributions[0].Outcome, want)
	}
}

func TestTextThatCannotBeSentIsRefused(t *testing.T) {
	for name, tc := range map[string]struct {
		cfg  Config
		give []Message
		want string
	}{
		"invalid UTF-8": {Config{}, []Message{{Text: "a\xff"}}, "message 0: text is not valid UTF-8"},
		"surrogate":     {Config{}, []Message{{Text: "\xed\xa0\x80"}}, "message 0: text is not valid UTF-8"},
		"NUL":           {Config{}, []Message{{Text: "ok"}, {Text: "a\x00b"}}, "message 1: text holds a NUL character, which providers refuse"},
		"own closing tag": {Config{Envelope: "note"}, []Message{{Text: "a</note>b"}},
			"message 0: text holds </note> and would end its own envelope"},
		"too long":     {Config{MaxBytes: 3}, []Message{{Text: "ab"}, {Text: "cd"}}, "gave more text than max_bytes=3"},
		"blank counts": {Config{MaxBytes: 3}, []Message{{Text: "    "}}, "gave more text than max_bytes=3"},
		"too many":     {Config{}, make([]Message, 257), "gave 257 messages: want at most 256"},
	} {
		tc.cfg.Name = "x"
		_, err := composerOf(patient(tc.cfg, gives(tc.give...))).Compose(t.Context(), Session{})
		if got, want := fmt.Sprint(err), `contributor "x": `+tc.want; got != want {
			t.Errorf("%s: Compose = %v, want %s", name, got, want)
		}
	}
}

func TestTextIsKeptAsItIs(t *testing.T) {
	const text = "\ufeffa\r\nb\u2028\u0001\U0001F600 \n"
	r := compose(t, composerOf(patient(Config{MaxBytes: len(text)}, gives(Message{Text: text}))), Session{})
	if r.Messages[0].Text != text {
		t.Errorf("Compose gave %q, want %q", r.Messages[0].Text, text)
	}
}

func TestClosesTag(t *testing.T) {
	f := func(text string, want bool) {
		t.Helper()
		if got := closesTag(text, "note"); got != want {
			t.Errorf("closesTag(%q) = %v, want %v", text, got, want)
		}
	}
	f("", false)
	f("</note>", true)
	f("a </ NOTE\n> b", true)
	f("</b></notes></note", false)
	f("</notes></note >", true)
	f("<note>", false)
	f("< /note>", false)
	f("</"+strings.Repeat("</", 1000), false)
}

func TestHeadersStayWithTheContributorThatAsked(t *testing.T) {
	told := map[string]map[string]string{}
	hears := func(name string) fake {
		return func(_ context.Context, s Session, l []Message) ([]Message, error) {
			told[name] = s.Headers
			return l, nil
		}
	}
	c := composerOf(
		patient(Config{ForwardHeaders: []string{"X-Team", "x-absent"}}, hears("a")),
		patient(Config{When: Matcher{Headers: map[string]string{"X-Repo": "*"}}}, hears("b")),
	)
	compose(t, c, Session{Headers: map[string]string{"x-team": "core", "x-repo": "preface", "x-other": "secret"}})
	want := map[string]map[string]string{"a": {"x-team": "core"}, "b": nil}
	if diff := cmp.Diff(want, told); diff != "" {
		t.Errorf("contributors were told other headers (-want +got):\n%s", diff)
	}
	if diff := cmp.Diff([]string{"x-absent", "x-repo", "x-team"}, c.headerNames()); diff != "" {
		t.Errorf("HeaderNames differs (-want +got):\n%s", diff)
	}
}
