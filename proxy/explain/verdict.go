package explain

// Causes. The first group is to be expected, the last is nobody's on our side.
const (
	Cold           = "cold"            // nothing was there yet
	ConcurrentCold = "concurrent_cold" // sent before the answer to the one that writes had begun
	Expired        = "expired"
	BelowMinimum   = "below_minimum"
	PartialBlock   = "partial_block" // rounding only

	NoMark           = "no_mark"
	LookbackExceeded = "lookback_exceeded"
	MarkMoved        = "mark_moved"
	ModelChanged     = "model_changed"
	ToolsChanged     = "tools_changed"
	SystemChanged    = "system_changed"
	PrefixChanged    = "prefix_changed" // breaks I2: an alarm
	HistoryRewritten = "history_rewritten"
	ParameterChanged = "parameter_changed" // beta headers too
	KeyChanged       = "key_changed"
	UpstreamChanged  = "upstream_changed" // host, credential or workspace
	ImageChanged     = "image_changed"
	ThinkingDropped  = "thinking_dropped"

	Provider = "provider" // nothing on our side changed
	Unknown  = "unknown"
)

// Owners of a cause.
const (
	ByClient      = "client"
	ByContributor = "contributor"
	ByPreface     = "preface"
	ByUpstream    = "upstream"
	ByProvider    = "provider"
)

// Sections of a request.
const (
	SectionTools      = "tools"
	SectionSystem     = "system"
	SectionPrefix     = "prefix"
	SectionHistory    = "history"
	SectionParameters = "parameters"
	SectionMarks      = "marks"
	SectionKey        = "key"
	SectionModel      = "model"
	SectionBetas      = "betas"
	SectionAccount    = "account"
	SectionHost       = "host"
)

// A Verdict says how a request's read compares with what could have been read.
type Verdict struct {
	// Cause is empty if nothing fell short.
	Cause   string
	Owner   string
	Section string // what differs; empty if nothing does
	Offset  int    // of the client's body where the difference begins; -1: none
	Index   int    // of the tool, system block or message; -1: none
	Detail  string // one line for a person, e.g. "tool read_file edited"
	Waste   bool   // avoidable by its owner, not to be expected

	Expected int64  // tokens that could have been read
	Missed   int64  // how many of them were not
	Against  string // ID of the request that it was compared with
}
