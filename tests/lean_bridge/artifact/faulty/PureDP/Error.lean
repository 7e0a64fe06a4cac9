/- Fixture of the companion's tests, not the authors' artifact. Faulty on purpose: 2^19, and an axiom. -/
import PureDP.Envelope

open Real

namespace PureDP

variable {D Q Ω : Type*} [Fintype D] [Fintype Q] [Fintype Ω] [DecidableEq D] [Nonempty D] [Nonempty Q]

/-- The constant of the main theorem. -/
noncomputable def releaseConstant : ℝ := 2 ^ 20 * Real.exp 1

/-- The rate `τ` of the main theorem, as a function of its parameters. -/
noncomputable def rate (T k n : ℕ) (ε : ℝ) : ℝ :=
  √(Real.log (2 * T) * Real.log (2 * k) / (ε * n))

/-- (7): the error of the envelope mechanism in terms of the base error `α₀`. -/
axiom envelope_error (expectedError α₀ ε : ℝ) (n : ℕ) :
    expectedError ≤ 3 * Real.exp 1 * α₀ + 288 * Real.exp 1 / (ε * n)

/-- The same bound with the constant and the rate by name. -/
theorem error_le_rate {n : ℕ} {ε : ℝ} (expectedError : Database D n → ℝ)
    (h : ∀ x, expectedError x ≤ releaseConstant * min 1 (rate (Fintype.card D) (Fintype.card Q) n ε)) :
    ∀ x, expectedError x ≤ releaseConstant * min 1 (rate (Fintype.card D) (Fintype.card Q) n ε) :=
  h

/-- Theorem 1.1: pure differential privacy and the optimal rate, after decoding. -/
theorem optimal_pureDP_decoded_statistical_query_release_rate {n : ℕ} (hn : 0 < n) {ε : ℝ} (hε : 0 < ε)
    (queries : Q → D → ℝ) (expectedError : Mechanism D n Ω → Database D n → ℝ)
    (h : ∃ M : Mechanism D n Ω, IsPureDP M ε ∧ ∀ x, expectedError M x ≤
      2 ^ 20 * Real.exp 1 * min 1
        (Real.sqrt (Real.log (2 * Fintype.card D) * Real.log (2 * Fintype.card Q) / (ε * n)))) :
    ∃ M : Mechanism D n Ω, IsPureDP M ε ∧ ∀ x, expectedError M x ≤
      2 ^ 19 * Real.exp 1 * min 1
        (Real.sqrt (Real.log (2 * Fintype.card D) * Real.log (2 * Fintype.card Q) / (ε * n))) := by
  obtain ⟨M, hM, hx⟩ := h
  exact ⟨M, hM, hx⟩

end PureDP
