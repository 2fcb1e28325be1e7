package dialect

import "testing"

func TestAfterReminders(t *testing.T) {
	f := func(raw, want string) {
		t.Helper()
		if got := afterReminders([]byte(raw)); string(got) != want {
			t.Errorf("afterReminders(%q) = %q, want %q", raw, got, want)
		}
	}
	f(``, ``)
	f(`hello`, `hello`)
	f(`  \n\t\r hello \n`, `hello \n`)
	for _, tag := range reminderTags {
		f(`<`+tag+`>x</`+tag+`>`, ``)
		f(`<`+tag+` id=\"1\">x</`+tag+`>\n\nhello`, `hello`)
		f(`<`+tag+`s>x</`+tag+`s>`, `<`+tag+`s>x</`+tag+`s>`) // another tag
		f(`<`+tag+`>never closed`, `<`+tag+`>never closed`)
		f(`<`+tag, `<`+tag)
	}
	f(`<system-reminder>a</system-reminder>\n<session_context>b</session_context> hello`, `hello`)
	f(`<system-reminder>a</b></system-reminders></system-reminder>hello`, `hello`)
	f(`hello <system-reminder>a</system-reminder>`, `hello <system-reminder>a</system-reminder>`)
	f(`\u003csystem_reminder\u003ea\u003c/system_reminder\u003ehello`, `hello`)
	f(`\u003Csystem_reminder\u003Ea\u003C/system_reminder\u003Ehello`, `hello`)
	f(`<system-reminder>a<\/system-reminder>hello`, `hello`)
	f(`<system-reminder>a/system-reminder></system-reminder>hello`, `hello`)
	f(`<system-reminder>a</system-remindex></system-reminder>hello`, `hello`)
	f(`<task>a</task>`, `<task>a</task>`)
}
