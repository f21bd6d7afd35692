module word_stats

go 1.21
