// Package logtest is the suite that every backend of the header log passes, and
// what tests of the log's users need: sample records and a log that fails on
// demand.
//
// # Invariants
//
//  1. The suite uses nothing but logsink's interfaces: a backend is done when it
//     passes, and a fault found in one backend becomes a case for all.
//  2. Every case can fail: logtest_test.go runs the suite against backends that
//     are broken on purpose.
package logtest

import (
	"testing"

	"github.com/seed-9236c7ca/preface/logsink"
)

// A Backend is one empty log. Open and Reader may be called any number of
// times, and each handle is like a process of its own: what one has stored the
// others see. They are closed at the end of the test if the case does not do
// it.
type Backend struct {
	Open   func(t testing.TB) logsink.Log
	Reader func(t testing.TB) logsink.Reader
}

// A testCase is one thing that a backend must do.
type testCase struct {
	name string
	run  func(t testing.TB, b Backend)
}

var cases = []testCase{
	{"I5_FreezeRaceHasOneWinner", freezeRace},
	{"I1_FreezeSurvivesReopening", freezeDurable},
	{"I2_FreezeKeepsBytes", freezeBytes},
	{"FreezeRefusesContradictions", freezeRefuses},
	{"FreezeEpochs", freezeEpochs},
	{"I6_KeysStayApart", keysStayApart},
	{"I6_TenantsStayApart", tenantsStayApart},
	{"AppendKeepsOrder", appendOrder},
	{"AppendAgainStoresOnce", appendAgain},
	{"AppendConcurrently", appendConcurrently},
	{"AppendRefuses", appendRefuses},
	{"AppendOddStrings", appendOddStrings},
	{"UnknownOutcomeIsStoredOnce", unknownOutcome},
	{"CancelReturns", cancelReturns},
	{"CancelledCallsShareNothing", cancelledCalls},
	{"BlobsComeWithRecords", blobsComeWithRecords},
	{"Last", last},
	{"LastOfManyThreads", lastOfManyThreads},
	{"Find", find},
	{"EndEpoch", endEpoch},
	{"Secret", secret},
	{"SessionsAreListed", sessionsAreListed},
	{"RetainByAge", retainByAge},
	{"RetainKeepsLiveAnchors", retainKeepsLive},
	{"RetainBySize", retainBySize},
	{"RetainNothing", retainNothing},
	{"ClosedIsUnavailable", closedIsUnavailable},
}

// Run runs the suite. fresh makes an empty log for each case.
func Run(t *testing.T, fresh func(t testing.TB) Backend) {
	for _, c := range cases {
		t.Run(c.name, func(t *testing.T) { c.run(t, fresh(t)) })
	}
}
