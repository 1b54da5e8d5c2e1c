/** Components of deployments, as a member reads them from the revisions that it has. */

import { mkdir, writeFile } from 'node:fs/promises'
import { join } from 'node:path'

import { expect, it } from 'vitest'

import type { Deployment } from '../../../../src/deployment/index.ts'
import { RevisionComponents } from '../../../../src/deployment/serving/revision-components.ts'
import type { ComponentParts } from '../../../../src/deployment/serving/revision-components.ts'
import { HeddleError } from '../../../../src/errors.ts'
import { freshFolder } from '../../revision/trees.ts'

const fileOf = (sign: string) => `ui-${sign.repeat(32)}.js`

/** Revisions on disk, each with one script that has its name; they are held while they are read. */
async function member(revisions: Readonly<Record<string, string>>) {
  const root = await freshFolder()
  for (const [name, sign] of Object.entries(revisions)) {
    await mkdir(join(root, name, '.heddle-ui'), { recursive: true })
    const list = sign.startsWith('{') ? sign : JSON.stringify({ agent: [fileOf(sign)] })
    await writeFile(join(root, name, '.heddle-ui/components.json'), list)
    await writeFile(join(root, name, '.heddle-ui', fileOf(sign.slice(0, 1))), `of ${name}`)
  }
  const held: string[] = []
  const parts = { deployments: {
    revision: async (_: Deployment, name: string) => {
      if (!(name in revisions)) throw new HeddleError('not_found', 'It was removed.')
      return name
    },
    manifest: async (name: string) => name,
    readChunks: () => undefined,
  }, cache: { hold: async (name: string) => {
    held.push(name)
    return { root: join(root, name), configFile: '', release: () => held.push(`${name} released`) }
  } } } as unknown as ComponentParts
  return { components: new RevisionComponents(parts), held }
}

const deployment = (active: string | null, more: Partial<Deployment> = {}) =>
  ({ id: 'd', active, next: null, previous: null, ...more }) as Deployment

it('are those of the active revision, which is held only while it is read', async () => {
  const { components, held } = await member({ r1: 'a', r2: 'b' })
  expect(await components.namesOf(deployment(null), 'agent')).toEqual([])
  expect(await components.namesOf(deployment('r1'), 'agent')).toEqual([fileOf('a')])
  expect(await components.namesOf(deployment('r1'), 'other')).toEqual([])
  expect(held).toEqual(['r1', 'r1 released'])
  const read = async () => String(await components.read(deployment('r1'), fileOf('a')))
  expect(await read()).toBe('of r1')
  expect(await read()).toBe('of r1')
  expect(held).toHaveLength(4)
})

it('are found in the one before as well, and in one that pages asked for', async () => {
  const { components } = await member({ r1: 'a', r2: 'b', r3: 'c', r4: 'd' })
  const read = async (of: Deployment, sign: string) => {
    const content = await components.read(of, fileOf(sign))
    return content === undefined ? undefined : Buffer.from(content).toString()
  }
  await components.namesOf(deployment('r1'), 'agent')
  const now = deployment('r3', { previous: 'r2', next: { revision: 'r9', percent: 10 } })
  expect(await Promise.all(['a', 'b', 'c', 'd', 'e'].map((sign) => read(now, sign))))
    .toEqual(['of r1', 'of r2', 'of r3', undefined, undefined])
  // Another deployment has other revisions.
  expect(await read({ ...deployment('r4'), id: 'other' }, 'a')).toBeUndefined()
})

it('are none where the list is wrong', async () => {
  const { components } = await member({ r1: '{"agent":["../../secret","ui.js",5]}', r2: '{broken',
    r3: '{"agent":"x"}' })
  for (const revision of ['r1', 'r2', 'r3']) {
    expect(await components.namesOf(deployment(revision), 'agent')).toEqual([])
  }
})
