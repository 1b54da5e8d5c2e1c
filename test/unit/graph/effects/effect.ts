/** The function for effects, as the code of a node finds it. */

/** Does an effect: its name, its input, its work. */
export type Effect = (name: string, input: unknown,
  work: (means: { readonly key: string; readonly signal: AbortSignal }) => unknown
) => Promise<unknown>

/** The effect of a node in this process. */
export const effect: Effect = (...asked) =>
  (globalThis as unknown as Record<symbol, Effect>)[Symbol.for('heddle.effect')]!(...asked)
