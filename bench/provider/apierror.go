package provider

import "fmt"

// An apiError is a refusal, rendered by the format of the dialect.
type apiError struct {
	status  int
	kind    string // "" means the one that goes with the status
	message string
	param   string // OpenAI only
	code    string // OpenAI only
}

// refuse returns a 400.
func refuse(format string, args ...any) *apiError {
	return &apiError{status: 400, message: fmt.Sprintf(format, args...)}
}

// refuseParam returns a 400 that names a parameter and a code, as OpenAI does.
func refuseParam(param, code, format string, args ...any) *apiError {
	e := refuse(format, args...)
	e.param, e.code = param, code
	return e
}

var anthropicKinds = map[int]string{
	400: "invalid_request_error", 401: "authentication_error", 402: "billing_error", 403: "permission_error",
	404: "not_found_error", 413: "request_too_large", 429: "rate_limit_error", 504: "timeout_error", 529: "overloaded_error",
}

var openaiKinds = map[int]string{
	400: "invalid_request_error", 401: "invalid_request_error", 403: "invalid_request_error", 404: "invalid_request_error",
	413: "invalid_request_error", 429: "requests", 500: "server_error", 503: "server_error",
}

// A format is what is the same in all answers of one API family.
type format struct {
	errorBody func(e *apiError, requestID string) any
	// errorEvent ends a stream that goes wrong; ping breaks its silence.
	errorEvent, ping []byte
	requestID        string // the header that carries it
	// header is on every answer, in this spelling.
	header map[string]string
}

var anthropicFormat = format{
	errorBody: func(e *apiError, requestID string) any {
		return anthropicError{"error", errorDetail{Type: e.kindOr(anthropicKinds, "api_error"), Message: e.message}, requestID}
	},
	errorEvent: sse("error", anthropicError{Type: "error", Error: errorDetail{Type: "overloaded_error", Message: "Overloaded"}}),
	ping:       sse("ping", ping{"ping"}),
	requestID:  "request-id",
	header: map[string]string{
		"anthropic-organization-id":              "org_simulated",
		"anthropic-ratelimit-requests-limit":     "4000",
		"anthropic-ratelimit-requests-remaining": "3999",
	},
}

func openaiFormat(errorEvent []byte) format {
	return format{
		errorBody: func(e *apiError, _ string) any {
			return openaiError{openaiDetail{e.message, e.kindOr(openaiKinds, "server_error"), optional(e.param), optional(e.code)}}
		},
		errorEvent: errorEvent,
		ping:       []byte(": keep-alive\n\n"),
		requestID:  "x-request-id",
		header: map[string]string{
			"openai-version":                 "2020-10-01",
			"openai-processing-ms":           "5",
			"x-ratelimit-limit-requests":     "10000",
			"x-ratelimit-remaining-requests": "9999",
		},
	}
}

func (e *apiError) kindOr(kinds map[int]string, otherwise string) string {
	if e.kind != "" {
		return e.kind
	}
	if k, ok := kinds[e.status]; ok {
		return k
	}
	return otherwise
}

type anthropicError struct {
	Type      string      `json:"type"`
	Error     errorDetail `json:"error"`
	RequestID string      `json:"request_id,omitempty"`
}

type errorDetail struct {
	Type    string `json:"type"`
	Message string `json:"message"`
}

type openaiError struct {
	Error openaiDetail `json:"error"`
}

type openaiDetail struct {
	Message string  `json:"message"`
	Type    string  `json:"type"`
	Param   *string `json:"param"`
	Code    *string `json:"code"`
}

type ping struct {
	Type string `json:"type"`
}

// optional is nil for "", so that it is null in JSON.
func optional(s string) *string {
	if s == "" {
		return nil
	}
	return &s
}
