/** Signs of TeX, by the names of their commands. */

const pairs = (text: string): Readonly<Record<string, string>> =>
  Object.fromEntries(text.split(' ').map((pair) => pair.split('=') as [string, string]))

/** Letters, which are names of quantities. */
export const letters = pairs(
  'alpha=α beta=β gamma=γ delta=δ epsilon=ϵ varepsilon=ε zeta=ζ eta=η theta=θ vartheta=ϑ ' +
    'iota=ι kappa=κ lambda=λ mu=μ nu=ν xi=ξ pi=π rho=ρ sigma=σ tau=τ upsilon=υ phi=ϕ ' +
    'varphi=φ chi=χ psi=ψ omega=ω Gamma=Γ Delta=Δ Theta=Θ Lambda=Λ Xi=Ξ Pi=Π Sigma=Σ ' +
    'Upsilon=Υ Phi=Φ Psi=Ψ Omega=Ω infty=∞ partial=∂ nabla=∇ ell=ℓ hbar=ℏ emptyset=∅ Re=ℜ ' +
    'Im=ℑ aleph=ℵ ldots=… cdots=⋯ vdots=⋮ ddots=⋱ dots=…',
)

/** Operators, relations, arrows and brackets. */
export const operators = pairs(
  'times=× cdot=⋅ div=÷ pm=± mp=∓ ast=∗ star=⋆ circ=∘ bullet=∙ oplus=⊕ otimes=⊗ leq=≤ ' +
    'le=≤ geq=≥ ge=≥ neq=≠ ne=≠ approx=≈ equiv=≡ sim=∼ simeq=≃ cong=≅ propto=∝ ll=≪ gg=≫ ' +
    'in=∈ notin=∉ ni=∋ subset=⊂ subseteq=⊆ supset=⊃ supseteq=⊇ cup=∪ cap=∩ setminus=∖ ' +
    'forall=∀ exists=∃ neg=¬ lnot=¬ land=∧ wedge=∧ lor=∨ vee=∨ to=→ rightarrow=→ ' +
    'leftarrow=← leftrightarrow=↔ Rightarrow=⇒ implies=⇒ Leftarrow=⇐ Leftrightarrow=⇔ iff=⇔ ' +
    'mapsto=↦ uparrow=↑ downarrow=↓ mid=∣ parallel=∥ perp=⊥ angle=∠ langle=⟨ rangle=⟩ ' +
    'lfloor=⌊ rfloor=⌋ lceil=⌈ rceil=⌉ vert=| Vert=‖ colon=: prime=′ lbrace={ rbrace=}',
)

/** Operators with bounds: those of a sum stand above and below it on a line of its own. */
export const sums = pairs('sum=∑ prod=∏ coprod=∐ bigcup=⋃ bigcap=⋂ bigoplus=⨁')
/** Integrals, whose bounds stand beside them. */
export const integrals = pairs('int=∫ iint=∬ iiint=∭ oint=∮')
/** Marks above a quantity. */
export const accents = pairs(
  'hat=^ widehat=^ bar=¯ overline=¯ tilde=~ widetilde=~ vec=→ dot=˙ ddot=¨',
)
/** Spaces, in widths of an m. */
export const spaces: Readonly<Record<string, string>> = { ',': '0.17em', ':': '0.22em',
  ';': '0.28em', '!': '0', ' ': '0.3em', quad: '1em', qquad: '2em' }
/** Functions, which stand upright. */
export const functions: ReadonlySet<string> = new Set(
  ('sin cos tan cot sec csc arcsin arccos arctan sinh cosh tanh log ln lg exp max min sup ' +
    'inf lim det dim ker arg argmax argmin gcd mod Pr')
    .split(' '),
)
