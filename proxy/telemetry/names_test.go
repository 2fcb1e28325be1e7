package telemetry

import (
	"testing"

	semconv "go.opentelemetry.io/otel/semconv/v1.41.0"
	"go.opentelemetry.io/otel/semconv/v1.41.0/genaiconv"
)

// TestNamesOfConventions: our constants are the library's of the version that they
// say they are. Where that goes on to another, ours stay.
func TestNamesOfConventions(t *testing.T) {
	for ours, theirs := range map[string]string{
		attrMethod:           string(semconv.HTTPRequestMethodKey),
		attrMethodOriginal:   string(semconv.HTTPRequestMethodOriginalKey),
		attrTemplate:         string(semconv.HTTPRouteKey),
		attrStatus:           string(semconv.HTTPResponseStatusCodeKey),
		attrResend:           string(semconv.HTTPRequestResendCountKey),
		attrPath:             string(semconv.URLPathKey),
		attrScheme:           string(semconv.URLSchemeKey),
		attrErrorType:        string(semconv.ErrorTypeKey),
		attrServerAddress:    string(semconv.ServerAddressKey),
		attrServerPort:       string(semconv.ServerPortKey),
		attrOperation:        string(semconv.GenAIOperationNameKey),
		operationChat:        semconv.GenAIOperationNameChat.Value.AsString(),
		attrProvider:         string(semconv.GenAIProviderNameKey),
		"anthropic":          semconv.GenAIProviderNameAnthropic.Value.AsString(),
		"openai":             semconv.GenAIProviderNameOpenAI.Value.AsString(),
		attrConversation:     string(semconv.GenAIConversationIDKey),
		attrRequestModel:     string(semconv.GenAIRequestModelKey),
		attrRequestStream:    string(semconv.GenAIRequestStreamKey),
		attrMaxTokens:        string(semconv.GenAIRequestMaxTokensKey),
		attrTemperature:      string(semconv.GenAIRequestTemperatureKey),
		attrTopP:             string(semconv.GenAIRequestTopPKey),
		attrTopK:             string(semconv.GenAIRequestTopKKey),
		attrSeed:             string(semconv.GenAIRequestSeedKey),
		attrChoices:          string(semconv.GenAIRequestChoiceCountKey),
		attrFrequencyPenalty: string(semconv.GenAIRequestFrequencyPenaltyKey),
		attrPresencePenalty:  string(semconv.GenAIRequestPresencePenaltyKey),
		attrResponseID:       string(semconv.GenAIResponseIDKey),
		attrResponseModel:    string(semconv.GenAIResponseModelKey),
		attrFinishReasons:    string(semconv.GenAIResponseFinishReasonsKey),
		attrFirstChunk:       string(semconv.GenAIResponseTimeToFirstChunkKey),
		attrInputTokens:      string(semconv.GenAIUsageInputTokensKey),
		attrCacheRead:        string(semconv.GenAIUsageCacheReadInputTokensKey),
		attrCacheCreation:    string(semconv.GenAIUsageCacheCreationInputTokensKey),
		attrOutputTokens:     string(semconv.GenAIUsageOutputTokensKey),
		attrReasoningTokens:  string(semconv.GenAIUsageReasoningOutputTokensKey),
		attrTokenType:        string(semconv.GenAITokenTypeKey),
		tokenInput:           semconv.GenAITokenTypeInput.Value.AsString(),
		tokenOutput:          semconv.GenAITokenTypeOutput.Value.AsString(),
		metricDuration:       genaiconv.ClientOperationDuration{}.Name(),
		metricFirstChunk:     genaiconv.ClientOperationTimeToFirstChunk{}.Name(),
		metricChunk:          genaiconv.ClientOperationTimePerOutputChunk{}.Name(),
		metricTokenUsage:     genaiconv.ClientTokenUsage{}.Name(),
		schemaGenAI:          semconv.SchemaURL,
	} {
		if ours != theirs {
			t.Errorf("our %q is %q in the conventions", ours, theirs)
		}
	}
}

// TestOneVocabulary: the variable is a list, and what else is in it changes nothing.
func TestOneVocabulary(t *testing.T) {
	for optIn, latest := range map[string]bool{
		"": false, "http": false, optInGenAI: true, "http/dup, " + optInGenAI: true, "gen_ai_latest_experimental_2": false,
	} {
		if v := vocabularyFor(optIn); v.latest != latest || (v.cacheWrite == newAttrCacheWrite) != latest || (v.schema == "") != latest {
			t.Errorf("vocabularyFor(%q) = %+v, want the latest: %t", optIn, v, latest)
		}
	}
}
