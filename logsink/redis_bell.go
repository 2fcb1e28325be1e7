package logsink

import (
	"context"
	"time"
)

// bellChannel is where the scripts ring when an epoch has ended. What has ended
// is asked for then, as it is once a second: a bell that is not heard, or that the
// user of log.redis.username may not ring, costs that second.
const bellChannel = "preface:ended"

// Bell receives when an epoch may have ended in another process, soon after. One
// that is not taken stands for all that follow.
func (s *Redis) Bell() <-chan struct{} { return s.bell }

func (s *Redis) ring() {
	select {
	case s.bell <- struct{}{}:
	default:
	}
}

// hark rings the bell for what is heard, until ctx ends. To have missed nothing it
// rings at each new connection, too.
func (s *Redis) hark(ctx context.Context) {
	for ctx.Err() == nil {
		s.harkOnce(ctx)
		_ = pause(ctx, time.Second) // ctx may end it
	}
}

func (s *Redis) harkOnce(ctx context.Context) {
	sub := s.client.Subscribe(ctx, bellChannel)
	defer context.AfterFunc(ctx, func() { sub.Close() })() // Receive does not heed ctx
	defer sub.Close()
	for {
		if _, err := sub.Receive(ctx); err != nil {
			return
		}
		s.ring()
	}
}
