package main

import (
	"context"
	"sync"
	"time"
)

// retainEvery is how often the limits of log.retention are applied.
const retainEvery = 10 * time.Minute

func (v *service) openRetention(context.Context) error {
	ctx, stop := context.WithCancel(context.Background())
	var running sync.WaitGroup
	running.Go(func() {
		tick := time.NewTicker(retainEvery)
		defer tick.Stop()
		for {
			v.retain(ctx)
			select {
			case <-tick.C:
			case <-ctx.Done():
				return
			}
		}
	})
	v.opens("retention", func(context.Context) error { stop(); running.Wait(); return nil })
	return nil
}

func (v *service) retain(ctx context.Context) {
	d, err := v.logs.Retain(ctx, v.started.Log.Retention)
	switch {
	case err != nil && ctx.Err() == nil:
		v.logger.Warn("cannot apply log.retention; trying again in "+retainEvery.String(), "error", err)
	case d.Sessions+d.Records+d.Blobs > 0:
		v.logger.Info("log.retention dropped records", "sessions", d.Sessions, "records", d.Records, "blobs", d.Blobs, "bytes", d.Bytes)
	}
}
