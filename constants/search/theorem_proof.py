"""The proof of Theorem 1.1 with the constant of a tuning from the final inequality (E): BC-0, BC-8 and BC-9."""

from __future__ import annotations

from typing import Any

from flint import fmpq

from certify.claims.claim import Claim
from certify.claims.context import Context
from constants.search.final_inequality import log_above, log_below, show_defined
from constants.search.formulas import regret_factor
from constants.search.proof import Steps, certified
from constants.search.rung import Envelope, Gap, Rung


class _Theorem:
    """The steps of one proof."""

    def __init__(
        self, rung: Rung, claim: Claim, final: Claim, constant: fmpq, envelope: Envelope, last: int | None
    ) -> None:
        self.rung, self.claim, self.final, self.last = rung, claim, final, last
        self.constant, self.envelope = constant, envelope
        self.steps = Steps(Context.of(claim))
        self.have, self.define = self.steps.have, self.steps.define

    def equation(self, name: str) -> str:
        return f"{name} = {self.claim.definitions[name].text()}"

    def logarithms(self) -> None:
        """l, L_D, L_Q, W, τ and their signs."""
        have, first = self.have, self.envelope.first
        have("T > 0", f"T >= {first}")
        have("k > 0", "k >= 1")
        have("n > 0", "n >= 1")
        have("2*k >= 2", "k >= 1")
        self.define("l", "L_D", "L_Q", "W")
        have("log(2) > 0")
        have("sqrt(2) > 0")
        have(f"log({first}) >= {log_below(first)}")
        have(f"log(T) >= log({first})")
        if self.last is not None:
            have(f"log(T) <= log({self.last})")
            have(f"log({self.last}) <= {log_above(self.last)}")
            have(
                f"l <= {log_above(self.last)}",
                f"log(T) <= log({self.last})",
                f"log({self.last}) <= {log_above(self.last)}",
                "l = log(T)",
            )
        have(f"l >= {log_below(first)}", "l = log(T)", f"log(T) >= log({first})", f"log({first}) >= {log_below(first)}")
        have("l > 0", f"l >= {log_below(first)}")
        have("L_D > 0", "L_D = l + log(2)", "log(2) > 0", "l > 0")
        have("2*k > 0")
        have("log(2*k) >= log(2)")
        have("L_Q >= log(2)", "L_Q = log(2*k)", "log(2*k) >= log(2)")
        have("L_Q > 0", "L_Q >= log(2)", "log(2) > 0")
        have("epsilon*n > 0")
        have("W > 0", "W = epsilon*n", "epsilon*n > 0")
        have("log(2*T) = log(2) + log(T)")
        have("log(2*T) = L_D", "log(2*T) = log(2) + log(T)", "L_D = l + log(2)", "l = log(T)")
        have("log(2*k) > 0", "L_Q = log(2*k)", "L_Q > 0")
        have("log(2*T) > 0", "log(2*T) = L_D", "L_D > 0")
        have("log(2*T)*log(2*k)/(epsilon*n) > 0")
        root = "sqrt(log(2*T)*log(2*k)/(epsilon*n))"
        have(f"{root} > 0")
        have(f"{root}^2 = log(2*T)*log(2*k)/(epsilon*n)")
        self.define("tau")
        have("tau > 0", self.equation("tau"), f"{root} > 0")
        have(
            "tau^2*W = log(2*T)*log(2*k)",
            self.equation("tau"),
            "W = epsilon*n",
            f"{root}^2 = log(2*T)*log(2*k)/(epsilon*n)",
        )
        have("tau^2*W = L_D*L_Q", "tau^2*W = log(2*T)*log(2*k)", "log(2*T) = L_D", "L_Q = log(2*k)")

    def rounds(self) -> None:
        """J is at least J_0, and at most j W/L_Q + 1."""
        have, j = self.have, self.envelope.j
        (argument,) = self.claim.definitions["J"].children
        y = argument.text()
        have(f"ceil({y}) >= {y}")
        have(f"ceil({y}) < {y} + 1")
        self.define("J")
        have(f"J*L_Q >= {j}*W", self.equation("J"), f"ceil({y}) >= {y}", degree=1)
        have(f"J*L_Q < {j}*W + L_Q", self.equation("J"), f"ceil({y}) < {y} + 1", degree=1)
        small = f"{self.constant}*tau <= 1"
        square = f"({self.constant})^2"
        have(f"{square}*tau^2 <= 1", small, "tau > 0")
        have(f"{square}*L_D*L_Q <= W", f"{square}*tau^2 <= 1", "W > 0", "tau^2*W = L_D*L_Q")
        have(f"J_0*L_Q <= {j}*W", f"{square}*L_D*L_Q <= W", self.equation("J_0"))
        have("J >= J_0", f"J*L_Q >= {j}*W", f"J_0*L_Q <= {j}*W", times=["L_Q > 0"])
        have("J > 0", "J >= J_0", "J_0 > 0")

    def step_size(self) -> None:
        """γ is at most 1, and the regret at most γ."""
        have = self.have
        have("2*l/J > 0")
        have("sqrt(2*l/J) > 0")
        have("sqrt(2*l/J)^2 = 2*l/J")
        self.define("gamma")
        have("gamma > 0", self.equation("gamma"), "sqrt(2*l/J) > 0")
        have("gamma^2*J = 2*l", self.equation("gamma"), "sqrt(2*l/J)^2 = 2*l/J")
        have("2*l <= J", "J >= J_0", self.equation("J_0"), self.equation("L_D"), "log(2) > 0", "L_D > 0")
        have("gamma^2 <= 1", "gamma^2*J = 2*l", "2*l <= J", times=["J > 0"])
        have("1 + gamma > 0", "gamma > 0")
        have("gamma <= 1", "gamma^2 <= 1", times=["1 + gamma > 0"])
        have("gamma*J > 0")
        self.define("regret_J")
        have("regret_J <= gamma", self.equation("regret_J"), "gamma^2*J = 2*l", times=["gamma*J > 0"])

    def rounding(self) -> None:
        """``u = √(J L_Q/(jW))`` is between 1 and ρ."""
        have, j = self.have, self.envelope.j
        inside = f"J*L_Q/({j}*W)"
        have(f"{inside} > 0")
        have(f"sqrt({inside}) > 0")
        have(f"sqrt({inside})^2 = {inside}")
        self.define("u")
        have("u > 0", self.equation("u"), f"sqrt({inside}) > 0")
        have(f"u^2*({j}*W) = J*L_Q", self.equation("u"), f"sqrt({inside})^2 = {inside}")
        have("u^2 >= 1", f"u^2*({j}*W) = J*L_Q", f"J*L_Q >= {j}*W", times=["W > 0"])
        have("u + 1 > 0", "u > 0")
        have("u >= 1", "u^2 >= 1", times=["u + 1 > 0"])
        have("v_0*J_0 = 1", self.equation("v_0"))
        have(f"L_Q <= v_0*({j}*W)", "v_0*J_0 = 1", "v_0 > 0", f"J_0*L_Q <= {j}*W")
        have("u^2 <= 1 + v_0", f"u^2*({j}*W) = J*L_Q", f"J*L_Q < {j}*W + L_Q", f"L_Q <= v_0*({j}*W)", times=["W > 0"])
        have("sqrt(1 + v_0)^2 = 1 + v_0")
        have("rho^2 = 1 + v_0", self.equation("rho"), "sqrt(1 + v_0)^2 = 1 + v_0")
        have("u + rho > 0", "u > 0", "rho > 0")
        have("u <= rho", "u^2 <= 1 + v_0", "rho^2 = 1 + v_0", times=["u + rho > 0"])

    def terms(self) -> None:
        """``γ u <= τ regret_root`` and ``log K/η <= τ gap u``: the squares are equal."""
        have, j = self.have, self.envelope.j
        for name in ("regret_root", "gap_root", "root_J"):
            inside = self.claim.definitions[name].children[0].text()
            if name == "root_J":
                have("L > 0", self.equation("L"), "l > 0", "L_D > 0")
                have(f"{inside} > 0")
                self.define(name)
            have(f"sqrt({inside}) > 0")
            have(f"sqrt({inside})^2 = {inside}")
            have(f"{name} > 0", self.equation(name), f"sqrt({inside}) > 0")
            have(f"{name}^2 = {inside}", self.equation(name), f"sqrt({inside})^2 = {inside}")
        squares = {
            name: f"{name}^2 = {self.claim.definitions[name].children[0].text()}"
            for name in ("regret_root", "gap_root", "root_J")
        }
        have(f"regret_root^2*{j}*L_D = 2*l", squares["regret_root"], "ratio*L_D = l")
        have(f"gamma^2*u^2*({j}*W) = 2*l*L_Q", "gamma^2*J = 2*l", f"u^2*({j}*W) = J*L_Q")
        have(f"tau^2*regret_root^2*({j}*W) = 2*l*L_Q", f"regret_root^2*{j}*L_D = 2*l", "tau^2*W = L_D*L_Q")
        have("gamma*u + tau*regret_root > 0", "gamma > 0", "u > 0", "tau > 0", "regret_root > 0")
        have(
            "gamma*u <= tau*regret_root",
            f"gamma^2*u^2*({j}*W) = 2*l*L_Q",
            f"tau^2*regret_root^2*({j}*W) = 2*l*L_Q",
            times=["gamma*u + tau*regret_root > 0", "W > 0"],
        )
        have("root_J^2 = 2*J*L", squares["root_J"])
        have(f"gap_root^2*L_D = 2*{j}*L", squares["gap_root"], "ratio*L_D = l", self.equation("L"))
        have("L_Q^2*root_J^2 = 2*J*L*L_Q^2", "root_J^2 = 2*J*L")
        have("W^2*tau^2 = W*L_D*L_Q", "tau^2*W = L_D*L_Q")
        have("W*u^2*gap_root^2*L_D = 2*L*J*L_Q", f"u^2*({j}*W) = J*L_Q", f"gap_root^2*L_D = 2*{j}*L")
        have("W^2*tau^2*(gap_root^2*u^2) = 2*J*L*L_Q^2", "W^2*tau^2 = W*L_D*L_Q", "W*u^2*gap_root^2*L_D = 2*L*J*L_Q")
        have(
            "L_Q*root_J + W*tau*gap_root*u > 0",
            "L_Q > 0",
            "root_J > 0",
            "W > 0",
            "tau > 0",
            "gap_root > 0",
            "u > 0",
            degree=4,
        )
        have(
            "L_Q*root_J <= W*tau*gap_root*u",
            "L_Q^2*root_J^2 = 2*J*L*L_Q^2",
            "W^2*tau^2*(gap_root^2*u^2) = 2*J*L*L_Q^2",
            times=["L_Q*root_J + W*tau*gap_root*u > 0"],
        )
        near, g = self.rung.growth.near, f"({self.envelope.g})"
        have(f"{near} > 0")
        have(f"{near}*root_J > 0")
        self.define("eta")
        have("eta > 0", self.equation("eta"), "W > 0", times=[f"{near}*root_J > 0"])
        self.define("gap_J")
        have(f"{g}*W = eta*({near}*root_J)", self.equation("eta"))
        have("gap_J*eta = L_Q", self.equation("gap_J"))
        have(f"gap_J*({g}*W) = {near}*L_Q*root_J", f"{g}*W = eta*({near}*root_J)", "gap_J*eta = L_Q")
        have(f"gap*{g} = {near}*gap_root", self.equation("gap"))
        have(f"{near}*(L_Q*root_J) <= {near}*(W*tau*gap_root*u)", "L_Q*root_J <= W*tau*gap_root*u", f"{near} > 0")
        have(f"W*tau*u*(gap*{g}) = W*tau*u*({near}*gap_root)", f"gap*{g} = {near}*gap_root")
        have(
            f"{g}*W*gap_J <= {g}*W*(tau*gap*u)",
            f"gap_J*({g}*W) = {near}*L_Q*root_J",
            f"{near}*(L_Q*root_J) <= {near}*(W*tau*gap_root*u)",
            f"W*tau*u*(gap*{g}) = W*tau*u*({near}*gap_root)",
        )
        have("gap_J <= tau*gap*u", f"{g}*W*gap_J <= {g}*W*(tau*gap*u)", times=["W > 0"])

    def far_databases(self) -> None:
        """``4F/W <= τ far``."""
        have, small = self.have, f"{self.constant}*tau <= 1"
        have("exp(-p_f*X) > 0")
        have("Y > 0", self.equation("Y"), "exp(-p_f*X) > 0")
        have("X > 0", self.equation("X"), "L > 0")
        have("Z > 0", self.equation("Z"), "X > 0", "Y > 0")
        have("q_f > 0")
        have("Z*(1 - q_f)^2 > 0", "Z > 0", "(1 - q_f)^2 > 0")
        have("Y*q_f > 0", "Y > 0", "q_f > 0")
        have("Y*q_f*(1 - q_f) > 0", "Y*q_f > 0", "1 - q_f > 0")
        factor = f"exp({self.envelope.b}/2) > 0"
        have(factor)
        terms = ("Z*(1 - q_f)^2 > 0", "Y*q_f*(1 - q_f) > 0", factor)
        have("F > 0", self.equation("F"), *terms, times=["1 - q_f > 0"] * 3)
        have("W*tau > 0")
        c = f"({self.constant})"
        have(f"{c}*L_D*L_Q <= W*tau", "tau^2*W = L_D*L_Q", small, "W*tau > 0")
        have(f"{c}*L_D*log(2) <= {c}*L_D*L_Q", "L_Q >= log(2)", "L_D > 0")
        have("w_0*L_D = 1", self.equation("w_0"))
        have(f"far*({c}*log(2)) = 4*F*w_0", self.equation("far"))
        have(f"far*({c}*L_D*log(2)) = 4*F", f"far*({c}*log(2)) = 4*F*w_0", "w_0*L_D = 1")
        have("far > 0", f"far*({c}*L_D*log(2)) = 4*F", "F > 0", times=["L_D > 0", "log(2) > 0"])
        have(
            f"far*({c}*L_D*log(2)) <= far*(W*tau)", f"{c}*L_D*L_Q <= W*tau", f"{c}*L_D*log(2) <= {c}*L_D*L_Q", "far > 0"
        )
        self.define("far_J")
        have(
            "far_J <= tau*far",
            self.equation("far_J"),
            f"far*({c}*L_D*log(2)) <= far*(W*tau)",
            f"far*({c}*L_D*log(2)) = 4*F",
        )

    def moment(self) -> None:
        """The excess over log K/η is largest at K = 2 and J_0 rounds; the sum of the two main terms at u = ρ."""
        have = self.have
        self.define("K")
        have("K > 0", "K = 2*k", "2*k > 0")
        have("K >= 2", "K = 2*k", "2*k >= 2")
        have("sqrt(K) > 0")
        have("sqrt(K) >= sqrt(2)")
        self.define("nu")
        have("nu > 0", self.equation("nu"), "sqrt(K) > 0", times=["sqrt(K) > 0"])
        have(
            "nu <= nu_0",
            self.equation("nu"),
            self.equation("nu_0"),
            "sqrt(K) >= sqrt(2)",
            times=["sqrt(K) > 0", "sqrt(2) > 0"],
        )
        have("log(nu) <= log(nu_0)")
        have("log(nu_0) < 0")
        have("J/2*log(nu) <= J_0/2*log(nu_0)", "log(nu) <= log(nu_0)", "J > 0", "J >= J_0", "log(nu_0) < 0")
        have("exp(J/2*log(nu)) <= exp(J_0/2*log(nu_0))")
        have("exp(J/2*log(nu)) > 0")
        self.define("nu_power")
        have("nu_power > 0", self.equation("nu_power"), "exp(J/2*log(nu)) > 0")
        have(
            "nu_power <= nu_power_0",
            self.equation("nu_power"),
            self.equation("nu_power_0"),
            "exp(J/2*log(nu)) <= exp(J_0/2*log(nu_0))",
        )
        have("S > 0")
        have("S_f > 0", self.equation("S_f"), "Y > 0", f"exp({self.envelope.b}/2) > 0", times=["1 - q_f > 0"])
        have("nu_power^2 <= nu_power_0^2", "nu_power <= nu_power_0", "nu_power > 0")
        self.define("excess")
        have("S*nu_power <= S*nu_power_0", "nu_power <= nu_power_0", "S > 0")
        have("nu_power^2*(1 + S_f) <= nu_power_0^2*(1 + S_f)", "nu_power^2 <= nu_power_0^2", "S_f > 0")
        have(
            "excess <= excess_0",
            self.equation("excess"),
            self.equation("excess_0"),
            "S*nu_power <= S*nu_power_0",
            "nu_power^2*(1 + S_f) <= nu_power_0^2*(1 + S_f)",
        )
        have("nu_power_0 > 0", "nu_power > 0", "nu_power <= nu_power_0")
        have("excess_0 > 0", self.equation("excess_0"), "S > 0", "S_f > 0", "nu_power_0 > 0", degree=3)
        have("J*v_0 >= 1", "J >= J_0", "v_0*J_0 = 1", "v_0 > 0")
        have("J*v_0*L_Q >= log(2)", "J*v_0 >= 1", "L_Q > 0", "L_Q >= log(2)")
        have("excess_0*(J*v_0*L_Q) >= excess_0*log(2)", "J*v_0*L_Q >= log(2)", "excess_0 > 0")
        self.define("gap_factor")
        have("exp(1) > 0")
        have("J*L_Q > 0")
        have("gap_factor*(exp(1)*J*L_Q) = exp(1)*J*L_Q + excess", self.equation("gap_factor"))
        have("gap_factor_0*(exp(1)*log(2)) = exp(1)*log(2) + excess_0*v_0", self.equation("gap_factor_0"))
        have(
            "excess*log(2) <= excess_0*v_0*(J*L_Q)",
            "excess <= excess_0",
            "log(2) > 0",
            "excess_0*(J*v_0*L_Q) >= excess_0*log(2)",
        )
        have(
            "gap_factor <= gap_factor_0",
            "gap_factor*(exp(1)*J*L_Q) = exp(1)*J*L_Q + excess",
            "gap_factor_0*(exp(1)*log(2)) = exp(1)*log(2) + excess_0*v_0",
            "excess*log(2) <= excess_0*v_0*(J*L_Q)",
            times=["exp(1) > 0", "J*L_Q > 0", "log(2) > 0"],
        )
        have(
            "gap_factor_0 >= 1",
            "gap_factor_0*(exp(1)*log(2)) = exp(1)*log(2) + excess_0*v_0",
            "excess_0 > 0",
            "v_0 > 0",
            times=["exp(1) > 0", "log(2) > 0"],
        )
        have("rho >= 1", "u >= 1", "u <= rho")
        have("u*rho >= 1", "u >= 1", "rho >= 1")
        have("regret = regret_root", self.equation("regret"))
        have("regret > 0", "regret = regret_root", "regret_root > 0")
        have("gap > 0", self.equation("gap"), "gap_root > 0", f"{self.rung.growth.near} > 0")
        have("gap + regret > 0", "gap > 0", "regret > 0")
        have("gap >= regret", *self.balance(), times=["gap + regret > 0"])
        have("gap*(u*rho) >= regret", "gap >= regret", "u*rho >= 1", "gap > 0")
        have("rho - u >= 0", "u <= rho")
        have("regret*(rho - u) <= gap*(u*rho)*(rho - u)", "gap*(u*rho) >= regret", "rho - u >= 0")
        have("gamma*u*rho <= tau*regret*rho", "gamma*u <= tau*regret_root", "regret = regret_root", "rho > 0")
        have(
            "tau*regret*rho <= tau*(regret + gap*rho*(rho - u))*u",
            "regret*(rho - u) <= gap*(u*rho)*(rho - u)",
            "tau > 0",
        )
        have(
            "gamma*rho <= tau*(regret + gap*rho*(rho - u))",
            "gamma*u*rho <= tau*regret*rho",
            "tau*regret*rho <= tau*(regret + gap*rho*(rho - u))*u",
            times=["u > 0"],
        )
        share = self.equation("regret_share")
        have(
            "gamma <= tau*(regret_share + gap*(rho - u))",
            share,
            "gamma*rho <= tau*(regret + gap*rho*(rho - u))",
            times=["rho > 0"],
        )
        have("tau*gap > 0")
        have("tau*gap*(rho - u) >= 0", "tau*gap > 0", "rho - u >= 0")
        have("tau*gap*(rho - u) <= gap_factor_0*(tau*gap*(rho - u))", "gap_factor_0 >= 1", "tau*gap*(rho - u) >= 0")
        have("gap_J > 0", "gap_J*eta = L_Q", "L_Q > 0", times=["eta > 0"])
        have("gap_factor*gap_J <= gap_factor_0*gap_J", "gap_factor <= gap_factor_0", "gap_J > 0")
        have("gap_factor_0*gap_J <= gap_factor_0*(tau*gap*u)", "gap_J <= tau*gap*u", "gap_factor_0 >= 1")
        self.define("error")
        have(
            "error <= tau*(regret_share + gap_factor_0*gap*rho + far)",
            self.equation("error"), "regret_J <= gamma", "gamma <= tau*(regret_share + gap*(rho - u))",
            "tau*gap*(rho - u) <= gap_factor_0*(tau*gap*(rho - u))", "gap_factor*gap_J <= gap_factor_0*gap_J",
            "gap_factor_0*gap_J <= gap_factor_0*(tau*gap*u)", "far_J <= tau*far", degree=1,
        )  # fmt: skip

    def norms(self) -> None:
        """The gap's factor is largest at K = 2; the two main terms are bounded at u = 1 and at u = ρ."""
        have = self.have
        have("S > 0")
        x, least = "L_Q", "log(2)"
        self.define("gap_factor")
        own, at_two = f"sqrt({x}^2 + 2*{x} + 2)", f"sqrt({least}^2 + 2*{least} + 2)"
        facts = ["L_Q >= log(2)", "log(2) > 0", "S > 0"]
        if self.rung.gap is Gap.PRINTED:
            have("log(2)*(L_Q - log(2)) >= 0", "L_Q >= log(2)", "log(2) > 0")
            have("S*log(2)*(L_Q - log(2)) >= 0", "log(2)*(L_Q - log(2)) >= 0", "S > 0")
            facts += ["log(2)*(L_Q - log(2)) >= 0", "S*log(2)*(L_Q - log(2)) >= 0"]
        if self.rung.gap is Gap.EXACT:
            have(f"{x}^2 + 2*{x} + 2 > 0", "L_Q > 0")
            for root in (own, at_two):
                have(f"{root} > 0")
                have(f"{root}^2 = {root[5:-1]}")
            have(f"{least}*{own} + {x}*{at_two} > 0", f"{own} > 0", f"{at_two} > 0", "L_Q > 0", "log(2) > 0")
            have("L_Q^2 >= log(2)^2", "L_Q >= log(2)", "log(2) > 0")
            have("L_Q*log(2)*(L_Q - log(2)) >= 0", "L_Q >= log(2)", "L_Q > 0", "log(2) > 0", degree=3)
            have(
                f"{least}*{own} <= {x}*{at_two}",
                f"{own}^2 = {own[5:-1]}", f"{at_two}^2 = {at_two[5:-1]}",
                "L_Q^2 >= log(2)^2", "L_Q*log(2)*(L_Q - log(2)) >= 0",
                times=[f"{least}*{own} + {x}*{at_two} > 0"],
            )  # fmt: skip
            facts.append(f"{least}*{own} <= {x}*{at_two}")
        have(
            "gap_factor <= gap_factor_0",
            self.equation("gap_factor"),
            self.equation("gap_factor_0"),
            *facts,
            times=["L_Q > 0", "log(2) > 0"],
        )
        have("gap_factor_0 > 0")
        have("1 + S > 0", "S > 0")
        have("regret_J <= tau*regret_root", "regret_J <= gamma", "gamma*u <= tau*regret_root", "u >= 1", "gamma > 0")
        factor = self.claim.definitions["regret"].text()
        self.define("error")
        have(
            f"{self.regret_factor}*regret_J <= tau*regret", f"regret = {factor}", "regret_J <= tau*regret_root", "S > 0"
        )
        have("regret_share = regret", self.equation("regret_share"))
        have("gap > 0", self.equation("gap"), "gap_root > 0", f"{self.rung.growth.near} > 0")
        have("tau*gap > 0")
        have("tau*gap*u <= tau*gap*rho", "u <= rho", "tau*gap > 0")
        have("gap_J > 0", "gap_J*eta = L_Q", "L_Q > 0", times=["eta > 0"])
        have("gap_factor*gap_J <= gap_factor_0*gap_J", "gap_factor <= gap_factor_0", "gap_J > 0")
        have(
            "gap_factor_0*gap_J <= gap_factor_0*(tau*gap*rho)",
            "gap_J <= tau*gap*u",
            "tau*gap*u <= tau*gap*rho",
            "gap_factor_0 > 0",
        )
        have(
            "error <= tau*(regret_share + gap_factor_0*gap*rho + far)",
            self.equation("error"), f"{self.regret_factor}*regret_J <= tau*regret", "regret_share = regret",
            "gap_factor*gap_J <= gap_factor_0*gap_J", "gap_factor_0*gap_J <= gap_factor_0*(tau*gap*rho)",
            "far_J <= tau*far", degree=1,
        )  # fmt: skip

    @property
    def regret_factor(self) -> str:
        return f"({regret_factor(self.rung)})"

    def balance(self) -> list[str]:
        """Facts from which ``gap² >= regret²`` follows: j is at least where the two main terms are equal."""
        have, near, g, j = self.have, self.rung.growth.near, self.envelope.g, self.envelope.j
        roots = {
            name: f"{name}^2 = {self.claim.definitions[name].children[0].text()}"
            for name in ("gap_root", "regret_root")
        }
        square = self.rung.growth.near_square
        have("sqrt(2)^2 = 2")
        have(f"(gap*({g}))^2 = {square}*gap_root^2", f"gap*({g}) = {near}*gap_root", "sqrt(2)^2 = 2", "sqrt(2) > 0")
        have(f"gap^2 = {square * 4 * j / g**2}*ratio", f"(gap*({g}))^2 = {square}*gap_root^2", roots["gap_root"])
        have(f"regret^2 = {2 / j}*ratio", "regret = regret_root", roots["regret_root"])
        have(f"({square * 4 * j / g**2})*ratio >= ({2 / j})*ratio", "ratio > 0")
        return [
            f"gap^2 = {square * 4 * j / g**2}*ratio",
            f"regret^2 = {2 / j}*ratio",
            f"({square * 4 * j / g**2})*ratio >= ({2 / j})*ratio",
        ]

    def conclude(self) -> list[dict[str, Any]]:
        """From (E) to both conclusions."""
        have, c = self.have, self.constant
        self.steps.cite(self.final)
        cited = self.final.conclusions[0]
        bound = cited.lhs.text()
        have(f"error <= {c}*tau", f"error <= tau*({bound})", cited.text(), "tau > 0")
        have("tau <= 1", f"{c}*tau <= 1", "tau > 0")
        have("min(1, tau) = tau")
        return [
            self.steps.shown(self.claim.conclusions[0], (), (), 1),
            self.steps.shown(self.claim.conclusions[1], (f"error <= {c}*tau", "min(1, tau) = tau"), (), 1),
        ]


def prove_theorem(
    rung: Rung, claim: Claim, final: Claim, constant: fmpq, envelope: Envelope, last: int | None
) -> dict[str, Any]:
    """The certificate of the theorem, which cites (E). Raises NoProof with the step that does not go through."""
    theorem = _Theorem(rung, claim, final, constant, envelope, last)
    theorem.logarithms()
    show_defined(rung, theorem.steps)
    theorem.rounds()
    theorem.step_size()
    theorem.rounding()
    theorem.terms()
    theorem.far_databases()
    if rung.gap is Gap.MOMENT:
        theorem.moment()
    else:
        theorem.norms()
    return certified(claim, theorem.steps, theorem.conclude())
