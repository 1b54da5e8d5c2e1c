/** Finds the place in a project's own code at which an error was thrown. */

/** The topmost stack frame in `root` outside of its node_modules, as `src/agent.ts:3:7`. */
export function placeIn(root: string, error: unknown): string | undefined {
  const stack = error instanceof Error && typeof error.stack === 'string' ? error.stack : ''
  const [, place] = stack.split(`${root}/`).slice(1)
    .map((rest) => /^(?!node_modules\/)([^\s)]+:\d+:\d+)/.exec(rest))
    .find((match) => match !== null) ?? []
  return place
}
