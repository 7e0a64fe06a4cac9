/- Fixture of the companion's tests, not the authors' artifact. -/
import Mathlib

/-!
# Queries, databases and pure differential privacy

A theorem in a comment declares nothing: theorem not_here : True := trivial
-/

open Real

namespace PureDP

variable {D Q Ω : Type*} [Fintype D] [Fintype Q] [Fintype Ω] [DecidableEq D]

/-- A database of `n` rows. -/
abbrev Database (D : Type*) (n : ℕ) := Fin n → D

/-- Number of rows in which two databases differ. -/
def hammingDist {n : ℕ} (x y : Database D n) : ℕ :=
  (Finset.univ.filter fun i => x i ≠ y i).card

/-- The mean of a query over the rows. -/
noncomputable def answer {n : ℕ} (q : D → ℝ) (x : Database D n) : ℝ :=
  (∑ i, q (x i)) / n

/-- A mechanism assigns to each database a law on a finite set of outcomes. -/
structure Mechanism (D : Type*) (n : ℕ) (Ω : Type*) [Fintype Ω] where
  /-- Probability of an outcome. -/
  prob : Database D n → Ω → ℝ
  prob_nonneg (x : Database D n) (ω : Ω) : 0 ≤ prob x ω
  prob_sum (x : Database D n) : ∑ ω, prob x ω = 1

/-- Pure `ε`-differential privacy. -/
def IsPureDP {n : ℕ} (M : Mechanism D n Ω) (ε : ℝ) : Prop :=
  ∀ x y, hammingDist x y ≤ 1 → ∀ ω, M.prob x ω ≤ Real.exp ε * M.prob y ω

/-- Decoding an outcome cannot spend privacy (Proposition 4.1). -/
theorem IsPureDP.decode {n : ℕ} {M : Mechanism D n Ω} {ε : ℝ} (hM : IsPureDP M ε)
    {Ω' : Type*} [Fintype Ω'] (f : Ω → Ω')
    (map : Mechanism D n Ω → (Ω → Ω') → Mechanism D n Ω')
    (h : IsPureDP (map M f) ε) : IsPureDP (map M f) ε :=
  h

end PureDP
