package provider

import (
	"fmt"
	"sync"
)

// maxStored bounds how many responses, and how many conversations, are kept.
const maxStored = 4096

// A responseStore keeps what Responses clients refer to by id. An id of another
// tenant does not exist.
type responseStore struct {
	mu            sync.Mutex
	responses     map[storeKey]*storedResponse
	conversations map[storeKey][]any // their items
	order         []storeKey         // responses, oldest first
	last          int                // conversations so far
}

type storeKey struct{ tenant, id string }

// A storedResponse is a response and the whole history that it ends.
type storedResponse struct {
	input   []any // of its own request
	history []any // everything the model read, and its output
	body    any
}

func newResponseStore() *responseStore {
	return &responseStore{responses: map[storeKey]*storedResponse{}, conversations: map[storeKey][]any{}}
}

// continued returns the stored items that come before a request's own
// (facts/providers.md 2.2).
func (s *responseStore) continued(tenant string, body object) ([]any, *apiError) {
	previous, conversation := body.str("previous_response_id"), conversationOf(body)
	if previous != "" && conversation != "" {
		return nil, refuseParam("previous_response_id", "mutually_exclusive_parameters",
			"Mutually exclusive parameters: 'previous_response_id' and 'conversation'. Ensure you are only providing one of them.")
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	if previous != "" {
		r, ok := s.responses[storeKey{tenant, previous}]
		if !ok {
			return nil, refuseParam("previous_response_id", "previous_response_not_found", "Previous response with id '%s' not found.", previous)
		}
		return r.history, nil
	}
	items, ok := s.conversations[storeKey{tenant, conversation}]
	if conversation != "" && !ok {
		return nil, &apiError{status: 404, message: fmt.Sprintf("Conversation with id '%s' not found.", conversation)}
	}
	return items, nil
}

// conversationOf returns the id of a request's conversation, written as a
// string or as an object, or "".
func conversationOf(body object) string {
	if o := body.obj("conversation"); o != nil {
		return o.str("id")
	}
	return body.str("conversation")
}

// put stores a response, unless the request says not to, and extends its
// conversation.
func (s *responseStore) put(tenant, id string, body object, r *storedResponse) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if c := conversationOf(body); c != "" {
		s.conversations[storeKey{tenant, c}] = r.history
	}
	if store, ok := body["store"].(bool); ok && !store {
		return
	}
	key := storeKey{tenant, id}
	if _, again := s.responses[key]; !again {
		s.order = append(s.order, key)
	}
	s.responses[key] = r
	if len(s.order) > maxStored {
		delete(s.responses, s.order[0])
		s.order = s.order[1:]
	}
}

func (s *responseStore) get(tenant, id string) (*storedResponse, *apiError) {
	s.mu.Lock()
	defer s.mu.Unlock()
	r, ok := s.responses[storeKey{tenant, id}]
	if !ok {
		return nil, &apiError{status: 404, message: fmt.Sprintf("Response with id '%s' not found.", id)}
	}
	return r, nil
}

// open begins a conversation with some items.
func (s *responseStore) open(tenant string, items []any) (string, *apiError) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if len(s.conversations) >= maxStored {
		return "", &apiError{status: 429, message: "Too many conversations."}
	}
	s.last++
	id := fmt.Sprintf("conv_%06d", s.last)
	s.conversations[storeKey{tenant, id}] = items
	return id, nil
}
