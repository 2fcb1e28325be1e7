package prefixstore

import (
	"bytes"
	"errors"
	"log/slog"
	"strings"
	"testing"
	"testing/synctest"
	"time"
)

// An outage of three minutes has a line when it begins, one each minute, and one
// when it is over.
func TestOutage(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var out bytes.Buffer
		var o outage
		logger := slog.New(slog.NewTextHandler(&out, nil))
		o.tell(logger, nil)
		if out.Len() != 0 {
			t.Errorf("of a log that answers it says %s", &out)
		}
		for range 150 {
			o.tell(logger, errors.New("refused"))
			time.Sleep(time.Second)
		}
		if n := strings.Count(out.String(), "does not answer"); n != 3 {
			t.Errorf("of 150 s it tells %d times, want 3:\n%s", n, &out)
		}
		o.tell(logger, nil)
		o.tell(logger, nil)
		if n := strings.Count(out.String(), "answers again"); n != 1 || !strings.Contains(out.String(), "after=2m30s") {
			t.Errorf("its end is told %d times, want once, with after=2m30s:\n%s", n, &out)
		}
		o.tell(logger, errors.New("refused"))
		if n := strings.Count(out.String(), "does not answer"); n != 4 {
			t.Errorf("the next outage is not told at once:\n%s", &out)
		}
	})
}
