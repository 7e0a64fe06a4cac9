(* Inequalities between numbers: `interval` decides those whose min and max are resolved first. *)
Lemma from_difference a b : 0 <= b - a -> a <= b.
Proof. lra. Qed.
Ltac enclosed :=
  first [ lra | interval | interval with (i_prec 128) | interval with (i_prec 512) | interval with (i_prec 2048) ].
Ltac chosen equation := rewrite equation by (apply from_difference; decided)
with decided :=
  lazymatch goal with
  | |- context [Rmin ?a ?b] => first [ chosen (Rmin_left a b) | chosen (Rmin_right a b) ]; decided
  | |- context [Rmax ?a ?b] => first [ chosen (Rmax_left a b) | chosen (Rmax_right a b) ]; decided
  | |- _ => enclosed
  end.
