/- Fixture of the companion's tests, not the authors' artifact. Faulty on purpose: a renamed lemma, a `sorry`, a
statement that is only in a comment. -/
import PureDP.Basic

open Real

namespace PureDP.Envelope

variable {D Q Ω : Type*} [Fintype D] [Fintype Q] [Fintype Ω] [DecidableEq D] {n : ℕ}

/-- The envelope `p̃`: the largest likelihood, discounted by the distance. -/
noncomputable def envelope (p : Database D n → Ω → ℝ) (ε : ℝ) (x : Database D n) (ω : Ω) : ℝ :=
  ⨆ y, Real.exp (-(ε / 2) * hammingDist x y) * p y ω

/-- Lemma 5.1: the likelihood of a neighbour is bounded by a codebook of radius `R` and length `m`. -/
theorem likelihood_Maurey (p : Database D n → Ω → ℝ) (codebook : ℕ → ℕ → Ω → ℝ) (ρ : ℝ) {R m : ℕ}
    (hm : 0 < m) (y : Database D n) (ω : Ω)
    (h : p y ω ≤ Real.exp (ρ * R ^ 2 / (4 * m)) * codebook R m ω) :
    p y ω ≤ Real.exp (ρ * R ^ 2 / (4 * m)) * codebook R m ω :=
  h

/-- (6.2): mass of the largest likelihood in a ball of radius `R`. -/
theorem ball_mass (H : ℕ → Ω → ℝ) (A L : ℝ) (R : ℕ) (h : ∑ ω, H R ω ≤ Real.exp (5 * √(A * L))) :
    ∑ ω, H R ω ≤ Real.exp (5 * √(A * L)) := by
  have bound : ∑ ω, H R ω ≤ Real.exp (5 * √(A * L)) := by
    sorry
  exact bound

/- The normaliser is at least one.
lemma one_le_normaliser (p : Database D n → Ω → ℝ) (ε : ℝ) (x : Database D n)
    (h : 1 ≤ ∑ ω, envelope p ε x ω) : 1 ≤ ∑ ω, envelope p ε x ω := h
-/

/-- Proposition 4.1 for the normalised envelope. -/
theorem isPureDP (M : Mechanism D n Ω) {ε : ℝ} (h : IsPureDP M ε) : IsPureDP M ε := h

end PureDP.Envelope
