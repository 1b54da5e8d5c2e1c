/** How busy this machine is, measured by what every start of a server or worker has to do. */

import { execFile } from 'node:child_process'
import { promisify } from 'node:util'

/** Time to load the engine in a process of its own; half a second on a good day. */
export async function engineLoadMs(): Promise<number> {
  const began = performance.now()
  await promisify(execFile)(process.execPath, ['-e', 'import("@langchain/langgraph")'], {
    // Compiled, it would load as fast on a machine that has no time for anything else.
    env: { ...process.env, NODE_DISABLE_COMPILE_CACHE: '1' },
  })
  return performance.now() - began
}
