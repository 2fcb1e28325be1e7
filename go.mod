module github.com/seed-9236c7ca/preface

go 1.26

require (
	github.com/zeebo/blake3 v0.2.4
	github.com/zeebo/xxh3 v1.1.0
)

require (
	github.com/klauspost/cpuid/v2 v2.2.10 // indirect
	golang.org/x/sys v0.30.0 // indirect
)
