package provider

import (
	"fmt"
	"slices"
	"sync"
)

// The store's bounds, over responses and conversations: how many, and how many
// bytes of requests they came from.
const (
	maxStored      = 4096
	maxStoredBytes = 128 << 20
)

// A responseStore keeps what Responses clients refer to by id. An id of another
// tenant does not exist. What was written longest ago goes first.
type responseStore struct {
	mu    sync.Mutex
	kept  map[storeKey]*stored
	order []storeKey // by last writing
	bytes int64
	last  int // conversations so far
}

type storeKey struct{ tenant, id string }

// A stored thing is a response, with the whole history that it ends, or a
// conversation, which has only a history.
type stored struct {
	input   []any // of its own request
	history []any // everything the model read, and its output
	body    any
	size    int64 // bytes of the requests that history came from
}

func newResponseStore() *responseStore { return &responseStore{kept: map[storeKey]*stored{}} }

// continued returns the stored items that come before a request's own
// (facts/providers.md 2.2).
func (s *responseStore) continued(tenant string, body object) (*stored, *apiError) {
	previous, conversation := body.str("previous_response_id"), conversationOf(body)
	if previous != "" && conversation != "" {
		return nil, refuseParam("previous_response_id", "mutually_exclusive_parameters",
			"Mutually exclusive parameters: 'previous_response_id' and 'conversation'. Ensure you are only providing one of them.")
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	if r, ok := s.kept[storeKey{tenant, previous + conversation}]; ok {
		return r, nil
	}
	switch {
	case previous != "":
		return nil, refuseParam("previous_response_id", "previous_response_not_found", "Previous response with id '%s' not found.", previous)
	case conversation != "":
		return nil, &apiError{status: 404, message: fmt.Sprintf("Conversation with id '%s' not found.", conversation)}
	}
	return &stored{}, nil
}

// conversationOf returns the id of a request's conversation, written as a
// string or as an object, or "".
func conversationOf(body object) string {
	if o := body.obj("conversation"); o != nil {
		return o.str("id")
	}
	return body.str("conversation")
}

// add stores a response, unless the request says not to, and what it says as
// its conversation.
func (s *responseStore) add(tenant, id string, body object, r *stored) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if c := conversationOf(body); c != "" {
		s.put(storeKey{tenant, c}, &stored{history: r.history, size: r.size})
	}
	if body["store"] != false {
		s.put(storeKey{tenant, id}, r)
	}
}

func (s *responseStore) put(key storeKey, r *stored) {
	if old, again := s.kept[key]; again {
		s.bytes -= old.size
		s.order = slices.DeleteFunc(s.order, func(k storeKey) bool { return k == key })
	}
	s.kept[key] = r
	s.order = append(s.order, key)
	s.bytes += r.size
	for len(s.order) > maxStored || s.bytes > maxStoredBytes && len(s.order) > 1 {
		s.bytes -= s.kept[s.order[0]].size
		delete(s.kept, s.order[0])
		s.order = s.order[1:]
	}
}

func (s *responseStore) get(tenant, id string) (*stored, *apiError) {
	s.mu.Lock()
	defer s.mu.Unlock()
	r, ok := s.kept[storeKey{tenant, id}]
	if !ok {
		return nil, &apiError{status: 404, message: fmt.Sprintf("Response with id '%s' not found.", id)}
	}
	return r, nil
}

// open begins a conversation with some items.
func (s *responseStore) open(tenant string, items []any, size int64) string {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.last++
	id := fmt.Sprintf("conv_%06d", s.last)
	s.put(storeKey{tenant, id}, &stored{history: items, size: size})
	return id
}
