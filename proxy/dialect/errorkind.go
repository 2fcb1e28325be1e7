package dialect

// An ErrorKind says whose mistake an error is.
type ErrorKind byte

// The kinds of error that we answer ourselves.
const (
	ErrInvalid     ErrorKind = iota // 400: the request
	ErrTooLarge                     // 413
	ErrUnavailable                  // 503: our log, or the contributors
	ErrUpstream                     // 502: the provider could not be reached
	ErrNotFound                     // 404: no route
	ErrUpgrade                      // 426: WebSocket
	ErrInternal                     // 500
	ErrTimeout                      // 504
	ErrOverloaded                   // 503: our own limits
)

// errorNames is how one kind is told: the status, the type that Anthropic has
// for it, and OpenAI's type with a code. The codes are none that clients act
// on, such as context_length_exceeded or insufficient_quota.
type errorNames struct {
	status                        int
	anthropic, openai, openaiCode string
}

var errorTable = [...]errorNames{
	ErrInvalid:     {400, "invalid_request_error", "invalid_request_error", "invalid_request"},
	ErrTooLarge:    {413, "request_too_large", "invalid_request_error", "request_too_large"},
	ErrUnavailable: {503, "api_error", "server_error", "unavailable"},
	ErrUpstream:    {502, "api_error", "server_error", "upstream_unreachable"},
	ErrNotFound:    {404, "not_found_error", "invalid_request_error", "not_found"},
	ErrUpgrade:     {426, "invalid_request_error", "invalid_request_error", "upgrade_refused"},
	ErrInternal:    {500, "api_error", "server_error", "internal_error"},
	ErrTimeout:     {504, "timeout_error", "server_error", "timeout"},
	ErrOverloaded:  {503, "overloaded_error", "server_error", "overloaded"},
}

// errorPrefix tells an error of ours from the provider's.
const errorPrefix = "preface: "

// names of a kind that nobody defined are those of a fault of ours.
func (k ErrorKind) names() errorNames {
	if int(k) >= len(errorTable) {
		k = ErrInternal
	}
	return errorTable[k]
}

// Status is the HTTP status that an error of this kind is answered with.
func Status(kind ErrorKind) int { return kind.names().status }
