/- Fixture of the companion's tests, not the authors' artifact: it has the shape of the release paper's Lean
development, and proofs that only hand over a hypothesis. It has never been compiled. -/
import PureDP.Basic
import PureDP.Envelope
import PureDP.Error
