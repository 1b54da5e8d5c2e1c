/** The entry of the process that loads the graphs of a revision once, and ends. */

import { systemEnv } from '../../../cluster/index.ts'
import { compileProject, readProject, startGraphHost } from '../../graph/index.ts'
import type { CheckDone } from './check-mail.ts'

const project = await readProject(process.argv[2]!, {
  ignoreAuth: process.argv[3] === 'ignore-auth',
})
// As in a server: relative paths in the code start from its configuration.
process.chdir(project.root)
const host = await startGraphHost({ project: await compileProject(project), workers: 1,
  env: systemEnv({ level: 'silent' }) })
const graphs = host.graphs().map(({ graphId, nodes, failed, failure }) => ({
  graphId,
  nodes: [...nodes],
  failure: failed ? failure ?? 'it cannot be loaded' : null,
}))
const done: CheckDone = { graphs }
process.send!(done, () => process.exit(0))
