package economics

import (
	"runtime"
	"sync"
)

// A crew plays a request to many scenes on all cores. Scenes share nothing that
// they write, so who plays which changes no number.
type crew struct {
	own   []*scene // the caller's share
	todo  []chan func(*scene)
	done  sync.WaitGroup // of one request
	ended sync.WaitGroup // of the crew
}

// A request to fewer cells than this is played faster than it is handed over.
const worthSharing = 200

// newCrew starts a crew, which must be stopped.
func newCrew(scenes []*scene) *crew {
	c := &crew{}
	workers := runtime.GOMAXPROCS(0)
	if cellsOf(scenes) < worthSharing {
		workers = 1
	}
	shares := make([][]*scene, workers)
	for _, s := range scenes {
		least := 0
		for i := range shares {
			if cellsOf(shares[i]) < cellsOf(shares[least]) {
				least = i
			}
		}
		shares[least] = append(shares[least], s)
	}
	c.own = shares[0]
	for _, share := range shares[1:] {
		todo := make(chan func(*scene))
		c.todo = append(c.todo, todo)
		c.ended.Go(func() { c.work(share, todo) })
	}
	return c
}

func cellsOf(scenes []*scene) (n int) {
	for _, s := range scenes {
		n += len(s.cells)
	}
	return n
}

func (c *crew) work(share []*scene, todo <-chan func(*scene)) {
	for f := range todo {
		for _, s := range share {
			f(s)
		}
		c.done.Done()
	}
}

// each does something to all scenes, and returns when it is done.
func (c *crew) each(f func(*scene)) {
	c.done.Add(len(c.todo))
	for _, todo := range c.todo {
		todo <- f
	}
	for _, s := range c.own {
		f(s)
	}
	c.done.Wait()
}

func (c *crew) stop() {
	for _, todo := range c.todo {
		close(todo)
	}
	c.ended.Wait()
}
