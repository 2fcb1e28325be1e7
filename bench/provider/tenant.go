package provider

import (
	"crypto/sha256"
	"encoding/hex"
	"net/http"
	"strings"
)

// TenantOf returns the digest that stands for a credential (the value of
// x-api-key, or of authorization without "Bearer ") wherever the provider
// reports a tenant, and which is the organization of its caches.
func TenantOf(credential string) string {
	sum := sha256.Sum256([]byte(credential))
	return hex.EncodeToString(sum[:6])
}

// credential returns what the request authenticates with, or "".
func credential(h http.Header) string {
	if key := strings.TrimSpace(h.Get("x-api-key")); key != "" {
		return key
	}
	scheme, token, _ := strings.Cut(h.Get("authorization"), " ")
	if !strings.EqualFold(scheme, "bearer") {
		return ""
	}
	return strings.TrimSpace(token)
}
