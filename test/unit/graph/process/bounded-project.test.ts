/** A project whose files are read by the server, which may read more than its process. */

import { symlink } from 'node:fs/promises'
import { join } from 'node:path'

import { expect, it } from 'vitest'

import { boundedProject } from '../../../../src/graph/process/bounded-project.ts'
import { writeProject } from '../project/project-files.ts'

const graphs = { agent: './agent.js:graph' }
const files = { 'agent.js': 'export const graph = 1', '.env': 'KEY=own' }

async function variablesWith(env: string, linkTo?: string): Promise<object> {
  const folder = await writeProject({ ...files, 'langgraph.json': { graphs, env } })
  if (linkTo !== undefined) await symlink(linkTo, join(folder, 'link'))
  const { env: variables } = await boundedProject({ configFile: join(folder, 'langgraph.json'),
    folder })
  return variables
}

it('reads the dotenv file of a deployment in its folder', async () => {
  expect(await variablesWith('.env')).toEqual({ KEY: 'own' })
})

it.each(['/proc/self/environ', '../../../../../../proc/self/environ'])(
  'does not read %s as the dotenv file of a deployment',
  async (env) => {
    expect(await variablesWith(env)).toEqual({})
  },
)

it('does not follow a link out of the folder to a dotenv file', async () => {
  expect(await variablesWith('link', '/proc/self/environ')).toEqual({})
})
