package dialect

func newAnthropicMeter(ep Endpoint, stream bool) Meter { return &meter{} }

func newChatMeter(ep Endpoint, stream bool) Meter { return &meter{} }

func newResponsesMeter(ep Endpoint, stream bool) Meter { return &meter{} }

// meter learns nothing.
type meter struct{ report Report }

func (m *meter) Write(p []byte) {}

func (m *meter) Report() Report { return m.report }
