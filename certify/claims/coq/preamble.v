(* Claims: each lemma holds for all values of its variables. *)
Definition is_int (x : R) : Prop := exists z : Z, x = IZR z.
Definition rfloor (x : R) : R := IZR (up x - 1).
Definition rceil (x : R) : R := - rfloor (- x).

Lemma rfloor_le x : rfloor x <= x.
Proof. unfold rfloor. rewrite minus_IZR. destruct (archimed x). lra. Qed.
Lemma rfloor_gt x : x - 1 < rfloor x.
Proof. unfold rfloor. rewrite minus_IZR. destruct (archimed x). lra. Qed.
Lemma rceil_ge x : x <= rceil x.
Proof. unfold rceil. pose proof (rfloor_le (- x)). lra. Qed.
Lemma rceil_lt x : rceil x < x + 1.
Proof. unfold rceil. pose proof (rfloor_gt (- x)). lra. Qed.

Lemma is_int_const z : is_int (IZR z).
Proof. exists z. reflexivity. Qed.
Lemma is_int_plus a b : is_int a -> is_int b -> is_int (a + b).
Proof. intros [x ->] [y ->]. exists (x + y)%Z. rewrite plus_IZR. reflexivity. Qed.
Lemma is_int_minus a b : is_int a -> is_int b -> is_int (a - b).
Proof. intros [x ->] [y ->]. exists (x - y)%Z. rewrite minus_IZR. reflexivity. Qed.
Lemma is_int_mult a b : is_int a -> is_int b -> is_int (a * b).
Proof. intros [x ->] [y ->]. exists (x * y)%Z. rewrite mult_IZR. reflexivity. Qed.
Lemma is_int_opp a : is_int a -> is_int (- a).
Proof. intros [x ->]. exists (- x)%Z. rewrite opp_IZR. reflexivity. Qed.
Lemma is_int_pow a n : is_int a -> is_int (a ^ n).
Proof.
  intros H. induction n as [|n IH]; simpl.
  - exists 1%Z. reflexivity.
  - apply is_int_mult; assumption.
Qed.
Lemma is_int_rfloor x : is_int (rfloor x).
Proof. exists (up x - 1)%Z. reflexivity. Qed.
Lemma is_int_rceil x : is_int (rceil x).
Proof. apply is_int_opp, is_int_rfloor. Qed.
Ltac int_valued :=
  repeat first [ assumption | apply is_int_rceil | apply is_int_rfloor | apply is_int_const
               | apply is_int_plus | apply is_int_minus | apply is_int_mult | apply is_int_opp
               | apply is_int_pow ].
Lemma int_nonneg x : is_int x -> 0 < x + 1 -> 0 <= x.
Proof.
  intros [z ->] H. rewrite <- plus_IZR in H. apply lt_IZR in H. apply IZR_le. lia.
Qed.

Lemma cancel_le a m : 0 < m -> 0 <= a * m -> 0 <= a.
Proof.
  intros Hm H. apply (Rmult_le_reg_r m); [ exact Hm | rewrite Rmult_0_l; exact H ].
Qed.
Lemma cancel_lt a m : 0 < m -> 0 < a * m -> 0 < a.
Proof.
  intros Hm H. apply (Rmult_lt_reg_r m); [ exact Hm | rewrite Rmult_0_l; exact H ].
Qed.
Lemma quotient_le n d : 0 < d -> 0 <= n -> 0 <= n / d.
Proof.
  intros Hd H. apply Rmult_le_pos; [ exact H | left; apply Rinv_0_lt_compat; exact Hd ].
Qed.
Lemma quotient_lt n d : 0 < d -> 0 < n -> 0 < n / d.
Proof.
  intros Hd H. apply Rmult_lt_0_compat; [ exact H | apply Rinv_0_lt_compat; exact Hd ].
Qed.
Lemma quotient_eq n d : n = 0 -> n / d = 0.
Proof. intros ->. unfold Rdiv. apply Rmult_0_l. Qed.

Lemma at_most_by_difference a b : 0 <= b - a -> a <= b.
Proof. lra. Qed.
Lemma less_by_difference a b : 0 < b - a -> a < b.
Proof. lra. Qed.

Lemma exp_le a b : a <= b -> exp a <= exp b.
Proof. intros [H | ->]; [ left; apply exp_increasing; exact H | right; reflexivity ]. Qed.
Lemma ln_le_ln a b : 0 < a -> a <= b -> ln a <= ln b.
Proof. intros Ha [H | ->]; [ left; apply ln_increasing; assumption | right; reflexivity ]. Qed.
Lemma exp_tangent u : 1 + u <= exp u.
Proof.
  destruct (Req_dec u 0) as [-> | H].
  - rewrite exp_0. lra.
  - left. apply exp_ineq1. exact H.
Qed.
Lemma ln_tangent u : 0 < u -> ln u <= u - 1.
Proof. intros H. pose proof (exp_tangent (ln u)) as E. rewrite exp_ln in E by exact H. lra. Qed.
Lemma exp_ln_pow u n : 0 < u -> exp (INR n * ln u) = u ^ n.
Proof.
  intros H. rewrite <- (exp_ln (u ^ n)) by (apply pow_lt; exact H). f_equal.
  rewrite <- Rpower_pow by exact H. unfold Rpower. rewrite ln_exp. reflexivity.
Qed.
Lemma ln_pow_nat u n : 0 < u -> ln (u ^ n) = INR n * ln u.
Proof. intros H. rewrite <- (exp_ln_pow u n H). apply ln_exp. Qed.
Lemma ln_inverse u : 0 < u -> ln (/ u) = - ln u.
Proof. intros H. apply ln_Rinv. exact H. Qed.
Ltac nonzero := repeat split; first [ assumption | apply Rgt_not_eq; assumption | apply Rgt_not_eq; lra
                                    | apply pow_nonzero; apply Rgt_not_eq; lra | lra ].
Ltac positive := repeat first [ assumption | apply Rmult_lt_0_compat | apply pow_lt
                              | apply Rinv_0_lt_compat | apply exp_pos | lra | interval ].
Ltac alike := first [ reflexivity | clear; lra | progress f_equal; alike ].
Ltac same known :=
  lazymatch type of known with
  | ?R ?a ?b => lazymatch goal with
                | |- R ?c ?d => replace c with a by alike; replace d with b by alike; exact known
                end
  end.
