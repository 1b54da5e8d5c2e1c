/** Asks the caller before a project goes to a server that was found, and not named. */

import { withTimeout } from '../../../cluster/index.ts'
import { textAt } from '../../json/index.ts'
import { CommandError } from '../admin-command.ts'
import type { ControlAccess } from '../control/control-command.ts'
import { ControlError } from '../control/control-error.ts'
import type { ControlCommandSource } from '../control/control-source.ts'
import { readDeployment } from '../control/rollout.ts'

const otherwise = 'add --yes to take it, name another by --url or HEDDLE_URL, or write ' +
  '"heddle": { "url": "…" } into langgraph.json'

/**
 * Names the server that was found on this machine, and asks whether it is the one. A deployment
 * that it has already is not asked for again. Throws CommandError.
 */
export async function confirmServer({ isTerminal, readLine }: ControlCommandSource,
  access: ControlAccess): Promise<void> {
  if (await isThere(access)) return
  const { client: { url }, name } = access
  const project = await projectOf(access)
  const found = `No server is named. The one at ${url} serves ${
    project === undefined ? 'a project that it does not name' : `the project ${project}`
  }, and has no deployment ${name} yet`
  if (!isTerminal) throw new CommandError(`${found}: ${otherwise}`, 'misused')
  const typed = await readLine(`${found}. Deploy there? [y/N] `)
  if (/^y(es)?$/i.test(typed.trim())) return
  throw new CommandError(`Nothing was deployed: ${otherwise}`, 'misused')
}

async function isThere(access: ControlAccess): Promise<boolean> {
  return await readDeployment(access).then(() => true, (error: unknown) => {
    if (error instanceof ControlError && error.code === 'not_found') return false
    throw error
  })
}

/** Time for an answer of this machine. */
const answerMs = 2_000

/** The name of the server's own project; undefined if it does not say so. */
async function projectOf({ client: { url }, env }: ControlAccess): Promise<string | undefined> {
  const asked = fetch(`${url}/internal/project`, { redirect: 'error' })
    .then(async (answer) => textAt(await answer.json(), 'project'))
  return await withTimeout(env, answerMs, asked, () => new Error('late')).catch(() => undefined)
}
