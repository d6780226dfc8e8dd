"""What a store says when a note or a search had to do without the model."""

SAVED_WITHOUT_MEANING = "Saved; for now it is found by its words only: {reason}"
FOUND_BY_WORDS = "Searched by words only, not by meaning: {reason}"
STILL_READING = (
    "{missing} passages are still being read for the present model; until then they are found by words only."
)
