package telemetry

// The names of OpenTelemetry's conventions, as constants of our own: they are a
// contract with those who look at spans, which no update of a library may
// change. A test compares them with the library's.

// Stable conventions.
const (
	attrMethod         = "http.request.method"
	attrMethodOriginal = "http.request.method_original"
	attrTemplate       = "http.route"
	attrPath           = "url.path"
	attrScheme         = "url.scheme"
	attrStatus         = "http.response.status_code"
	attrResend         = "http.request.resend_count"
	attrErrorType      = "error.type"
	attrServerAddress  = "server.address"
	attrServerPort     = "server.port"
)

// GenAI conventions that 1.41 and the new head have in common.
const (
	attrOperation    = "gen_ai.operation.name"
	attrProvider     = "gen_ai.provider.name"
	attrConversation = "gen_ai.conversation.id"

	attrRequestModel     = "gen_ai.request.model"
	attrRequestStream    = "gen_ai.request.stream"
	attrMaxTokens        = "gen_ai.request.max_tokens"
	attrTemperature      = "gen_ai.request.temperature"
	attrTopP             = "gen_ai.request.top_p"
	attrTopK             = "gen_ai.request.top_k"
	attrSeed             = "gen_ai.request.seed"
	attrChoices          = "gen_ai.request.choice.count"
	attrFrequencyPenalty = "gen_ai.request.frequency_penalty"
	attrPresencePenalty  = "gen_ai.request.presence_penalty"

	attrResponseID    = "gen_ai.response.id"
	attrResponseModel = "gen_ai.response.model"
	attrFinishReasons = "gen_ai.response.finish_reasons"
	attrFirstChunk    = "gen_ai.response.time_to_first_chunk"

	attrInputTokens     = "gen_ai.usage.input_tokens" // with those read and written
	attrCacheRead       = "gen_ai.usage.cache_read.input_tokens"
	attrOutputTokens    = "gen_ai.usage.output_tokens"
	attrReasoningTokens = "gen_ai.usage.reasoning.output_tokens"

	operationChat = "chat"
)

// GenAI conventions of 1.41.
const (
	attrCacheCreation    = "gen_ai.usage.cache_creation.input_tokens"
	attrTokenType        = "gen_ai.token.type"
	metricDuration       = "gen_ai.client.operation.duration"
	metricFirstChunk     = "gen_ai.client.operation.time_to_first_chunk"
	metricChunk          = "gen_ai.client.operation.time_per_output_chunk"
	metricTokenUsage     = "gen_ai.client.token.usage"
	tokenInput           = "input"
	tokenOutput          = "output"
	schemaGenAI          = "https://opentelemetry.io/schemas/1.41.0"
	optInVariable        = "OTEL_SEMCONV_STABILITY_OPT_IN"
	optInGenAI           = "gen_ai_latest_experimental"
	newMetricPrefix      = "gen_ai.client.inference."
	newMetricDuration    = newMetricPrefix + "duration"
	newMetricFirstChunk  = newMetricPrefix + "time_to_first_chunk"
	newMetricChunk       = newMetricPrefix + "time_per_output_chunk"
	newMetricInputSize   = newMetricPrefix + "operation.input_tokens"
	newMetricOutputSize  = newMetricPrefix + "operation.output_tokens"
	newMetricInput       = newMetricPrefix + "usage.input_tokens"
	newMetricOutput      = newMetricPrefix + "usage.output_tokens"
	newMetricCacheRead   = newMetricPrefix + "usage.cache_read.input_tokens"
	newMetricCacheWrite  = newMetricPrefix + "usage.cache_write.input_tokens"
	newMetricReasoning   = newMetricPrefix + "usage.reasoning.output_tokens"
	newAttrCacheWrite    = "gen_ai.usage.cache_write.input_tokens"
	newAttrModality      = "gen_ai.token.modality"
	modalityUnknown      = "unknown"
	finishError          = "error" // of a choice that did not come to its end
	instrumentationScope = "github.com/seed-9236c7ca/preface/proxy"
)

// Names of our own.
const (
	ownRequest       = "preface.request"
	ownRoute         = "preface.route"
	ownClass         = "preface.class"
	ownDecision      = "preface.decision"
	ownPassthrough   = "preface.passthrough.reason"
	ownRefused       = "preface.refused.reason"
	ownEnd           = "preface.end"
	ownSession       = "preface.session"
	ownSessionSource = "preface.session.source"
	ownEpoch         = "preface.epoch"
	ownThread        = "preface.thread"
	ownPrefixHash    = "preface.prefix.hash"
	ownPrefixBytes   = "preface.prefix.bytes"
	ownCause         = "preface.cache.cause"
	ownCauseOwner    = "preface.cache.owner"
	ownMissed        = "preface.cache.missed_tokens"
	ownSavedTokens   = "preface.saved.tokens"
	ownSavedUSD      = "preface.saved.usd"
	ownCostUSD       = "preface.cost.usd"
	ownPrefixUSD     = "preface.cost.prefix_usd"
	ownPrice         = "preface.price"
	ownUnpriced      = "preface.unpriced.reason"

	eventFirstByte = "preface.first_byte"
	eventTerminal  = "preface.terminal_event"
	eventRetry     = "preface.retry"
)

// A vocabulary is one of the two sets of GenAI names. Never are both used: a
// backend that adds up what it does not know would count twice.
type vocabulary struct {
	latest     bool
	cacheWrite string
	schema     string // empty: not released
}

// vocabularyFor reads OTEL_SEMCONV_STABILITY_OPT_IN, a list.
func vocabularyFor(optIn string) vocabulary {
	if listed(optIn, optInGenAI) {
		return vocabulary{latest: true, cacheWrite: newAttrCacheWrite}
	}
	return vocabulary{cacheWrite: attrCacheCreation, schema: schemaGenAI}
}
