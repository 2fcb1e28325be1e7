// Package configs holds the files of this folder that are in the binary.
//
// # Invariants
//
//  1. What is here is data: it is read by the same code, and refused for the same
//     reasons, as a file of the operator's.
package configs

import _ "embed"

// Prices is the built-in price table, prices.yaml.
//
//go:embed prices.yaml
var Prices []byte
