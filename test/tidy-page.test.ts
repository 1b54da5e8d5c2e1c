/** The rules of the web page, beside those of the whole house in tidy.test.ts. */

import { describe, it } from 'vitest'

import { circles, expectNone, reachedFrom } from './support/import-graph.ts'
import { readSource, repositoryFiles } from './support/source-tree.ts'

const sources = repositoryFiles().filter((path) => /\.m?[jt]sx?$/.test(path)).map(readSource)
const byPath = new Map(sources.map((file) => [file.path, file]))
/** What runs in a browser. Scripts that the page loads as they are have no imports. */
const studio = sources.filter(({ path }) => /^src\/studio\/(?!public\/)/.test(path))
/** What runs in a server. */
const house = sources.filter(({ path }) => /^(src|cluster)\/(?!studio\/)/.test(path))

describe('the web page', () => {
  it('knows the server by the types of its contract alone', () => {
    const broken = studio.flatMap(({ path, code, imports }) =>
      imports
        .filter(({ ours, target }) => ours && !target.startsWith('src/studio/'))
        .filter(({ target }) =>
          target !== 'src/api/index.ts' ||
          /^(import|export) [{*][^']*'[^']*api\/index\.ts'/m.test(code)
        )
        .map(({ target }) => `${path} → ${target}`)
    )
    expectNone(broken,
      'Ask the API for it, or export its type from src/api: schemas must not reach the page.')
  })

  it('asks by the routes of the contract alone', () => {
    const path = /['"`]\/(api\/v\d|control\/v\d)\/|`\/(threads|runs|assistants)\/\$\{/
    const broken = studio.filter(({ code }) => path.test(code))
      .map((file) => `${file.path}: ${path.exec(file.code)?.[0]}`)
    expectNone(broken,
      'Ask by `ask` or make the address by `addressFor`, of src/studio/api/address.ts.')
  })

  it('has its packages to itself', () => {
    const own = /^(react|react-dom|@tanstack|@dagrejs|@base-ui|@codemirror|marked|diff)\b/
    const broken = [
      ...house.flatMap(({ path, imports }) =>
        imports.filter(({ target }) => own.test(target)).map(({ target }) => `${path} → ${target}`)
      ),
      ...studio.flatMap(({ path, imports }) =>
        imports.filter(({ ours, target }) => !ours && !own.test(target))
          .map(({ target }) => `${path} → ${target}`)
      ),
    ]
    expectNone(broken, 'No package of the page runs in the server, nor the other way round.')
  })

  it('makes no circle', () => {
    expectNone(circles(byPath, studio),
      'Break the circle: move what both need into a file of its own.')
  })

  it('lies on the floors that docs/studio.md draws', () => {
    const [, plan = ''] = /## Floors\n([^]*?)\n## /.exec(readSource('docs/studio.md').text) ?? []
    const floors = [...plan.matchAll(/^\|[^|]+\|([^|]+)\|.*\|$/gm)].map(([, rooms]) =>
      [...rooms!.matchAll(/`([\w.-]+)\/?`/g)].map(([, room]) => room!)
    )
    const floorOf = (path: string) =>
      floors.findIndex((rooms) => rooms.includes(path.split('/')[2]!))
    const broken = studio.flatMap(({ path, imports }) =>
      floorOf(path) < 0
        ? [path]
        : imports.filter(({ target }) =>
          target.startsWith('src/studio/') && floorOf(target) < floorOf(path)
        )
          .map(({ target }) => `${path} → ${target}`)
    )
    expectNone(broken, 'Give each room a floor in docs/studio.md, and move down what is needed.')
  })

  it('reaches every file and uses every name', () => {
    const reached = reachedFrom(byPath, ['src/studio/main.tsx', 'src/studio/component.tsx'])
    const used = new Set(
      sources.flatMap(({ imports }) =>
        imports.flatMap(({ target, names }) => names.map((name) => `${target} ${name}`))
      ),
    )
    const dead = studio.flatMap(({ path, exports }) => [
      ...reached.has(path) ? [] : [path],
      ...exports.filter((name) => !used.has(`${path} ${name}`) && !used.has(`${path} *`))
        .map((name) => `${path}: ${name}`),
    ])
    expectNone(dead, 'Nobody imports it: delete it, or do not export it.')
  })

  it('takes clock, timers and chance from src/studio/env.ts', () => {
    const direct = new RegExp([
      /\bDate\.now\b|\bnew Date\(\)|\bperformance\b|\bset(Timeout|Interval)\b/,
      /\bMath\.random\b|\brandomUUID\b|\bgetRandomValues\b|\bconsole\./,
      /\bAbortSignal\.timeout\b/,
    ].map(({ source }) => source).join('|'))
    const broken = studio.filter(({ path, bare }) =>
      path !== 'src/studio/env.ts' && direct.test(bare)
    ).map(({ path, bare }) => `${path}: ${direct.exec(bare)?.[0]}`)
    expectNone(broken, 'Take it from src/studio/env.ts.')
  })

  it('never takes text for markup', () => {
    const broken = studio.filter(({ bare }) =>
      /dangerouslySetInnerHTML|\.(inner|outer)HTML\b|insertAdjacentHTML|\beval\(|new Function\b/
        .test(bare)
    ).map(({ path }) => path)
    expectNone(broken, 'What a model wrote is hostile: make elements of it.')
  })
})
