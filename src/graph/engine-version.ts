/** The versions of LangGraph.js that are served. */

/** The oldest version that had all that we need when tried. */
const oldestServed = '0.2.68'

/** Says why an engine of a version is not served; undefined for one that may be. */
export function engineFault(version: string | undefined): string | undefined {
  const parts = partsOf(version)
  return parts === undefined || !isBefore(parts, partsOf(oldestServed)!)
    ? undefined
    : tooOld(version!)
}

/** Error message for an engine that is older than the oldest served version. */
export function tooOld(version: string): string {
  return `The project runs on @langchain/langgraph ${version}, which is too old to be served: ` +
    `install ${oldestServed} or newer.`
}

/** The three numbers of a version; undefined for a text that is not one, as for a linked folder. */
function partsOf(version: string | undefined): readonly number[] | undefined {
  const found = /^(\d+)\.(\d+)\.(\d+)/.exec(version ?? '')
  return found?.slice(1).map(Number)
}

function isBefore(one: readonly number[], other: readonly number[]): boolean {
  const at = one.findIndex((part, index) => part !== other[index])
  return at >= 0 && one[at]! < other[at]!
}
