/** Components of a project: what is built of them, and what is refused. */

import { existsSync } from 'node:fs'
import { truncate, utimes } from 'node:fs/promises'
import { join } from 'node:path'
import { runInNewContext } from 'node:vm'

import { describe, expect, it } from 'vitest'

import { buildComponents } from '../../../../src/graph/components/build-components.ts'
import { bundleOf } from '../../../../src/graph/components/bundle.ts'
import { isComponentFile } from '../../../../src/graph/components/component-file.ts'
import { ProjectComponents } from '../../../../src/graph/components/project-components.ts'
import { uiPlanOf } from '../../../../src/graph/components/ui-plan.ts'
import { readProject } from '../../../../src/graph/project/project.ts'
import { writeFiles, writeProject } from '../project/project-files.ts'
import type { ProjectFiles } from '../project/project-files.ts'

const about = { graphs: { agent: './agent.ts:graph' }, ui: { agent: './ui.tsx' } }
const card = `import { useState } from 'react'
  import './ui.css'
  const Card = ({ city }) => {
    const [words] = useState('Weather in ')
    return <b>{words}{city}</b>
  }
  export default { card: Card }`
const files = { 'langgraph.json': about, 'agent.ts': 'export const graph = 1', 'ui.tsx': card,
  'ui.css': '.card { color: red; background: url(https://evil.example/x.png) }' }

const project = async (changes: ProjectFiles = {}) =>
  await readProject(await writeProject({ ...files, ...changes }))

/** What one file becomes, without a process of its own. */
async function bundled(changes: ProjectFiles, { shared = [], within = true }: {
  readonly shared?: readonly string[]
  readonly within?: boolean
} = {}) {
  const root = await writeProject({ ...files, ...changes })
  return await bundleOf({ root, within: within ? root : undefined, shared }, { graphId: 'my.agent',
    file: join(root, 'ui.tsx') })
}

/** The text of the script, or of the style sheet. */
async function textOf(changes: ProjectFiles, kind = '.js',
  options?: Parameters<typeof bundled>[1]): Promise<string> {
  const found = await bundled(changes, options)
  if ('failure' in found) throw new Error(found.failure)
  const file = found.files.find(({ name }) => name.endsWith(kind))!
  return Buffer.from(file.content).toString()
}

const byKind = (names: readonly string[]): Record<string, string> =>
  Object.fromEntries(names.map((name) => [name.split('.')[1]!, name]))

/** Runs a script as the page of the SDK does, and shows what it drew. */
function rendered(script: string, name: string) {
  const asked: string[] = []
  const drawn: { readonly place: string; readonly component: unknown }[] = []
  const page = {
    [Symbol.for('LGUI_REQUIRE')]: (module: string) => {
      asked.push(module)
      return { useState: (value: string) => [value], jsx: (...element: unknown[]) => element,
        jsxs: (...element: unknown[]) => element }
    },
    [Symbol.for('LGUI_EXT_STORE')]: {
      respond: (place: string, component: unknown) => drawn.push({ place, component }),
    },
    document: { createElement: () => ({}),
      getElementById: () => ({ shadowRoot: { append: () => {} } }) },
    console: { error: () => {} },
  }
  runInNewContext(
    `${script}; globalThis.window = globalThis; __LGUI_my_agent.render(${
      JSON.stringify(name)
    }, 'here')`,
    page,
  )
  return { asked, drawn }
}

describe('the script of components', () => {
  it('takes React from the page, and hands the component to it', async () => {
    const { asked, drawn } = rendered(await textOf({}), 'card')
    expect(asked.toSorted()).toEqual(['react', 'react/jsx-runtime'])
    expect(drawn).toEqual([{ place: 'here', component: expect.any(Function) }])
    const draw = drawn[0]!.component as (props: object) => unknown
    expect(draw({ city: 'Paris' })).toEqual(['b', { children: ['Weather in ', 'Paris'] }])
  })

  it('draws nothing for a name that is not there', async () => {
    const script = await textOf({})
    for (const name of ['', 'constructor', '__proto__', '</script>']) {
      expect(rendered(script, name).drawn).toEqual([])
    }
  })

  it('takes what is shared from the page, and all else along', async () => {
    const ui = `import { a } from 'big/part'; import { b } from 'small'
      import { useStreamContext as c } from '@langchain/langgraph-sdk/react-ui'
      export default { card: () => [a, b, c] }`
    const packages = { 'ui.tsx': ui,
      'node_modules/small/package.json': { name: 'small', main: 'index.js' },
      'node_modules/small/index.js': 'exports.b = "small one"' }
    const script = await textOf(packages, '.js', { shared: ['big'] })
    expect(script).toContain('small one')
    expect(rendered(script, 'card').asked.toSorted())
      .toEqual(['@langchain/langgraph-sdk/react-ui', 'big/part'])
    expect(await bundled(packages)).toMatchObject({
      failure: expect.stringMatching(/^ui\.tsx:1:\d+: .*"big\/part"/),
    })
  })

  it('has names that change with what is in it, and style sheets beside', async () => {
    const one = await bundled({})
    const same = await bundled({})
    const other = await bundled({ 'ui.css': '.card { color: blue }' })
    const names = [one, same, other].map((each) =>
      'failure' in each ? {} : byKind(each.files.map(({ name }) => name))
    )
    expect(Object.values(names[0]!).every(isComponentFile)).toBe(true)
    expect(names[1]).toEqual(names[0])
    expect(names[2]!['css']).not.toBe(names[0]!['css'])
    expect(await textOf({}, '.css')).toContain('https://evil.example/x.png')
  })

  it('says that Tailwind is not run', async () => {
    const found = await bundled({ 'ui.css': '@import "tailwindcss"; .card { color: red }' })
    expect(found).toMatchObject({
      warnings: [expect.stringMatching(/^ui\.css imports tailwindcss/)],
    })
  })
})

describe('components that cannot be built', () => {
  it.each([
    ['that do not parse', { 'ui.tsx': 'export default {\n  card: <b' }, /^ui\.tsx:2:\d+: /],
    ['without a default export', { 'ui.tsx': 'export const card = 1' }, /"default"/],
    ['of a file that is not there', { 'ui.tsx': `import './gone'` }, /^ui\.tsx:1:\d+: .*gone/],
    ['that are too large', { 'ui.tsx': `import text from './long.txt'; export default { text }`,
      'long.txt': 'x'.repeat(9 * 1024 * 1024) }, /ui\.tsx: its components have \d+ MB.*8 MB/],
  ])('say why: those %s', async (_, changes, reason) => {
    expect(await bundled(changes)).toEqual({ graphId: 'my.agent',
      failure: expect.stringMatching(reason) })
  })

  it('are not read if their sources are too large', async () => {
    const root = await writeProject({ ...files, 'ui.tsx': `import './long.css'; export default {}`,
      'long.css': '' })
    // It has no blocks on disk.
    await truncate(join(root, 'long.css'), 65 * 1024 * 1024)
    expect(
      await bundleOf({ root, within: root, shared: [] }, { graphId: 'agent',
        file: join(root, 'ui.tsx') }),
    ).toMatchObject({
      failure: expect.stringContaining('sources have more than 64 MB'),
    })
  })

  it('say which file lies outside of the project', async () => {
    const outside = await writeProject({ 'secret.txt': 'hush' })
    const ui = `import text from ${JSON.stringify(join(outside, 'secret.txt'))}
      export default { text }`
    expect(await bundled({ 'ui.tsx': ui })).toMatchObject({
      failure: expect.stringContaining('secret.txt lies outside of the project'),
    })
    // The server's own project may use its neighbours.
    expect(await textOf({ 'ui.tsx': ui }, '.js', { within: false })).toContain('hush')
  })

  it('are named with their graphs, and nothing of them is run', async () => {
    const root = await writeProject({ ...files,
      'langgraph.json': { ...about, ui: { agent: './ui.tsx', other: './other.tsx' } },
      'other.tsx': 'export default nothing here',
      'ui.tsx': `require('node:fs').writeFileSync(${
        JSON.stringify('ran')
      }, ''); export default {}` })
    const project = await readProject(root)
    await expect(buildComponents(project)).rejects.toMatchObject({ code: 'invalid',
      message: expect.stringMatching(/ui\.agent: ui\.tsx:1.*node:fs[^]*ui\.other: other\.tsx:1/) })
    expect(existsSync(join(root, 'ran'))).toBe(false)
  })
})

describe('ui of langgraph.json', () => {
  it('is built in a process, and again when a file has changed', async () => {
    const known = await project()
    const components = await ProjectComponents.open(known)
    const { js: script, css: sheet } = byKind(await components.namesOf('agent'))
    const before = await components.read(script!)
    expect(components.sources.toSorted()).toEqual([join(known.root, 'ui.css'),
      join(known.root, 'ui.tsx')])
    expect(await components.namesOf('other')).toEqual([])
    await components.refresh(known)
    expect(await components.read(script!)).toBe(before)
    await writeFiles(known.root, { 'ui.css': '.card { color: green }' })
    await utimes(join(known.root, 'ui.css'), 5, 5)
    await components.refresh(known)
    expect(await components.namesOf('agent')).not.toContain(sheet)
    // A page that is open may ask for it still.
    expect(await components.read(sheet!)).toBeDefined()
  })

  it('is nothing without ui, and where it is turned off', async () => {
    for (const change of [{ ui: undefined }, { ui: null }, { ui: {} }, {
      http: { disable_ui: true },
    }]) {
      const found = await project({ 'langgraph.json': { ...about, ...change } })
      expect(uiPlanOf(found).entries).toEqual([])
    }
  })

  it.each([
    [{ ui: 'ui.tsx' }, 'ui must be an object from graph ids'],
    [{ ui: { 'a/b': './ui.tsx' } }, 'ui.a/b is no graph id'],
    [{ ui: { '..': './ui.tsx' } }, 'ui... is no graph id'],
    [{ ui: { agent: 5 } }, 'ui.agent must name a file'],
    [{ ui: { agent: '../ui.tsx' } }, 'ui.agent must name a file of the project'],
    [{ ui: { agent: './ui.py' } }, 'ui.agent names a file that is neither'],
    [{ ui_config: { shared: ['../x'] } }, 'ui_config.shared.0 must be names of modules'],
    [{ ui_config: { shared: 'x' } }, 'ui_config.shared must be an array'],
  ])('is refused if it is wrong: %j', async (change, reason) => {
    // Not before it is built: a revision of an earlier version is loaded as before.
    const found = await project({ 'langgraph.json': { ...about, ...change } })
    expect(() => uiPlanOf(found)).toThrow(reason)
  })

  it('names what it does not know', async () => {
    const found = await project({ 'langgraph.json': { ...about, ui_config: { shade: 1 } } })
    expect(found.warnings).toEqual([expect.stringContaining('ui_config.shade')])
  })
})
