/** The house rules. Where one fails, its message says which file breaks it and what the cure is. */

import { readdirSync, readFileSync } from 'node:fs'
import { basename, dirname, join } from 'node:path'

import { describe, it } from 'vitest'

import { circles, expectNone, reachedFrom } from './support/import-graph.ts'
import { readSource, repositoryFiles, root } from './support/source-tree.ts'
import type { SourceFile } from './support/source-tree.ts'

const paths = repositoryFiles()
const sources = paths.filter((path) => /\.m?[jt]sx?$/.test(path)).map(readSource)
const byPath = new Map(sources.map((file) => [file.path, file]))

/** What runs in a browser. Scripts that the page loads as they are have no imports. */
const studio = sources.filter(({ path }) => /^src\/studio\/(?!public\/)/.test(path))
/** What runs in a server. */
const house = sources.filter(({ path }) => /^(src|cluster)\/(?!studio\/)/.test(path))
/** What others write: projects that are served, here for tests and as a template. */
const isProject = (path: string) => /^(deploy\/starter|test\/support\/projects)\//.test(path)
const isTest = (path: string) => path.startsWith('test/')

/** Lower never imports higher. */
const order = ['proto/gen', 'cluster', 'src/errors', 'src/raw-json', 'src/uuid-bytes',
  'src/settings', 'src/json', 'src/api', 'src/egress', 'src/access', 'src/limits', 'src/search',
  'src/billing', 'src/checkpoint', 'src/owned-row', 'src/assistants', 'src/items', 'src/graph',
  'src/revision', 'src/thread', 'src/crons', 'src/platform', 'src/deployment', 'src/frontdoor',
  'src/store', 'src/server', 'src/cli', 'src/main']

/**
 * Folders whose own folders and files are floors, types included: the lower never imports the
 * higher.
 */
const houses = ['cluster', 'src/cli', 'src/deployment', 'src/frontdoor', 'src/graph',
  'src/platform', 'src/revision', 'src/server', 'src/studio', 'src/thread', 'src/store/embedded',
  'src/store/cassandra']
/** The folders of the platform in their order. */
const platformFloors = ['spans', 'calls', 'records', 'ingest', 'query', 'evaluate', 'threads']

/** Words of our own for what the field has a word for, and that word. */
const dialect = {
  'Roster': 'FailureDetector',
  'mayJudge': 'canFence',
  'SessionGate|Passage': 'OwnershipCheck',
  'ReplyGate': 'ReplyFence',
  'ShardKeeper|ShardNews': 'ShardBalancer',
  'takeSeat': 'joinCluster',
  'Newcomer': 'Joining',
  'Lateness|graceMs': 'EventLoopLag',
  'Census': 'stats',
  'KeptReplies': 'ReplyStash',
  'Episode': 'TraceSpan',
  'Tenure|[sS]hardTenancy': 'ShardHandover',
  'Office|KeyDesk': 'AdminSocket',
  'ExecutionDesk|InquiryDesk|WorkerDesk': 'ExecutionScheduler',
  'Pulse|whileStanding': 'ConnectionTicker',
  'ThreadSetting': 'ThreadContext',
  'ThreadLedger': 'ThreadLog',
  'TailMirror|Parcel|FilePlace': 'BranchTails, WireBatch',
  'rehears': 'warmUp',
  'RunDriver|[lL]inger\\b|lingerMs': 'RunLifecycle, retention',
  'ToldAgain': 'ReplayFilter',
  'SteadyFollow|[sS]teadyJoin': 'AcrossOwners',
  'RunFeed\\b|WithheldEvents': 'EventStream, ReorderBuffer',
  'Departure|Mailer': 'WorkerBatch',
  'Suspicion|accuse|acquit|solitary': 'CrashBlame, quarantined',
  '[fF]reight': 'PendingPlaces',
  'doubtful': 'unconfirmed',
  'Stretch': 'EpochRange',
  'ViewShelf|BranchView': 'BranchCache',
  'Gathering': 'Batcher',
  'sideBySide|UsualTime': 'hedgedWrite, RunningMedian',
  'LimitBook|LimitLedger': 'LimitClients, TokenLease',
  'KeyBook|SessionBook': 'KeyCache',
  'Narrowing': 'WebhookPolicy',
  'atMost\\b|Turnstile': 'limitConcurrency, FairSemaphore',
  'putOff|firstAnswer': 'debounce, retryAtStartup',
  'AnswerRoom|InputRoom': 'ResponseQuota',
} as const
const dialectInNames = {
  'told': 'emitted, delivered',
  'heard': 'applied, received',
  'letGo': 'release',
  'goOn': 'resume',
  'roster': 'detector',
  'episode': 'span',
  'ledger': 'threadLog, lease',
  'must[A-Z]\\w*': 'require…',
  'sentence': 'message',
  'facts': 'details',
  '[A-Z]\\w*Wish|wish': '…Request, …Options',
  '[A-Z]\\w*Said': '…Input',
  '[A-Z]\\w*Ways': '…Port',
  'RenderRoom': 'RenderBudget',
} as const
/** Such words in comments, titles of tests and pages. Names in backticks may be older. */
const dialectInProse = {
  'told|heard': 'sent, received, notified',
  'rosters?': 'failure detector',
  'lets? go|letting go': 'release',
  'beats?': 'heartbeat',
  'sighted': 'reachable',
  'seats?': 'node of a cluster',
  'census': 'stats',
  'episodes?': 'span',
  'tenancy|tenures?': 'shard hand-over',
  'offices?|desks?': 'admin socket, scheduler',
  'ledgers?': 'thread log, lease',
  'mirrors?|parcels?|freight': 'branch tails, batch',
  'rehears\\w*': 'warm-up',
  'lingers?|lingering': 'retention',
  'trails?': 'resume point',
  'withheld': 'reorder buffer',
  'accus\\w+|acquit\\w*|solitary': 'blame, clear, quarantined',
  'doubtful': 'unconfirmed',
  'turnstiles?': 'semaphore',
  'facts': 'details',
  'wish(es)?': 'request, options',
} as const

/** Only src/server may import these, and neither imports the other. */
const walls = ['src/frontdoor', 'src/store']

const placeOf = (path: string) =>
  order.find((place) => path.startsWith(`${place}/`) || path === `${place}.ts`)

/** May be imported past the door: what it holds is needed where all of `cluster/` is not. */
const small = ['cluster/errors.ts']

/** The door between two files: of the outermost folder that holds `to` and not `from`. */
function doorBetween(from: string, to: string): string | undefined {
  const folders = []
  for (let folder = dirname(to); folder !== '.'; folder = dirname(folder)) folders.unshift(folder)
  return folders.filter((folder) => !from.startsWith(`${folder}/`))
    .map((folder) => `${folder}/index.ts`).find((door) => byPath.has(door))
}

/** The one address of each outside package; `node:` modules are free unless named here. */
const addresses: readonly (readonly [RegExp, readonly string[]])[] = [
  [/^typebox\b/, ['src/api/', 'src/frontdoor/', 'src/revision/manifest.ts']],
  [/^fastify\b|^@fastify\/|^@connectrpc\//, ['src/frontdoor/']],
  [/^@bufbuild\/protobuf/, ['src/frontdoor/', 'src/checkpoint/message-bytes.ts',
    'src/checkpoint/long-message.ts', 'proto/gen/']],
  [/^ws$/, ['src/frontdoor/']],
  [/^(node:sqlite|better-sqlite3)$/, ['src/store/embedded/']],
  [/^cassandra-driver$/, ['src/store/cassandra/']],
  [/^(esbuild|langchain|zod)$|^@langchain\//, ['src/graph/']],
  [/^ts-json-schema-generator$/, ['src/graph/typescript/']],
  [/^nice-grpc|^@grpc\//, ['cluster/transport/grpc/', 'proto/gen/']],
  [/^undici$/, ['src/egress/']],
  [/^pino$/, ['cluster/runtime/env.ts']],
  [/^lru-cache$/, ['cluster/flow/lru-cache.ts']],
  [/^uuid$/, ['cluster/runtime/env.ts', 'src/graph/project/assistant-id.ts',
    'src/checkpoint/place-name.ts', 'src/crons/run-id.ts', 'src/frontdoor/operations/runs.ts',
    'src/platform/records/catalog/named-id.ts', 'src/platform/spans/tenant-id.ts',
    'src/platform/records/catalog/branch.ts']],
  [/^croner$/, ['src/crons/schedule.ts']],
  [/^jose$/, ['src/access/']],
  [/^ipaddr\.js$/, ['src/settings/ip-address.ts']],
  [/^commander$/, ['src/main.ts', 'src/cli/']],
  [/^yaml$/, ['src/revision/remote/']],
  [/^prom-client$/, ['src/server/metrics/metrics.ts']],
  [/^@opentelemetry\//, ['src/server/tracing.ts', 'src/graph/pool/run-trace.ts']],
  [/^node:(?!sqlite)/, ['']],
]

describe('imports', () => {
  it('follow the order of the house', () => {
    const broken = house.flatMap(({ path, imports }) =>
      imports
        .filter(({ ours, target }) => {
          const [from, to] = [placeOf(path), placeOf(target)]
          if (!ours || from === to) return false
          const wall = to !== undefined && walls.includes(to) && from !== 'src/server'
          return to === undefined || order.indexOf(to) > order.indexOf(from!) || wall
        })
        .map(({ target }) => `${path} → ${target}`)
    )
    expectNone(broken, `Lower never imports higher: ${order.join(' < ')}. Move what is needed ` +
      'down, or declare a port where it is needed and pass the rest in from src/server/server.ts.')
  })

  it('enter a folder by its door', () => {
    const broken = house.flatMap(({ path, imports }) =>
      imports
        .filter(({ ours, target }) => ours && !target.startsWith('proto/gen/'))
        .filter(({ target }) => {
          const door = doorBetween(path, target)
          return door !== undefined && target !== door && !small.includes(target)
        })
        .map(({ target }) => `${path} → ${target}`)
    )
    expectNone(broken, 'Import from the index.ts of that folder, and name it there if it is not.')
  })

  it('make no circle', () => {
    expectNone(circles(byPath, house),
      'Break the circle: move what both need into a file of its own.')
  })

  it('make no circle of folders', () => {
    const broken = houses.flatMap((folder) => {
      // An app.ts or index.ts composes what is in its folder and below, so it stands above both.
      const home = (path: string) => {
        const inside = path.slice(folder.length + 1)
        if (/(^|\/)(app|index)\.ts$/.test(inside)) return '.'
        return inside.includes('/') ? dirname(inside) : inside
      }
      const ways = new Map<string, Set<string>>()
      const isInside = (path: string) => path.startsWith(`${folder}/`)
      for (const { path, imports } of sources.filter((file) => isInside(file.path))) {
        for (const { target } of imports.filter((one) => isInside(one.target))) {
          const [from, to] = [home(path), home(target)]
          if (from === to || from === '.' || to === '.') continue
          ways.set(from, (ways.get(from) ?? new Set()).add(to))
        }
      }
      const reaches = (from: string, to: string, seen = new Set<string>()): boolean =>
        [...ways.get(from) ?? []].some((next) =>
          next === to
          || (!seen.has(next) && reaches(next, to, seen.add(next)))
        )
      return [...ways.keys()].filter((one) => reaches(one, one)).map((one) => `${folder}/${one}`)
    })
    expectNone(broken, 'These folders import each other: move what both need into the lower one.')
  })

  it('lead from no floor of the platform to a higher one', () => {
    const floorOf = (path: string) => platformFloors.indexOf(path.split('/')[2]!)
    const broken = house.filter(({ path }) =>
      floorOf(path) >= 0 && path.startsWith('src/platform/')
    )
      .flatMap(({ path, imports }) =>
        imports
          .filter(({ target }) =>
            target.startsWith('src/platform/') && floorOf(target) > floorOf(path)
          )
          .map(({ target }) => `${path} → ${target}`)
      )
    expectNone(broken, `The platform's floors are ${platformFloors.join(' < ')}. Move what is ` +
      'needed down, or declare what you ask for where you ask.')
  })

  it('give each outside package one address', () => {
    const broken = house.flatMap(({ path, imports }) =>
      imports
        .filter(({ ours, target }) =>
          !ours && !addresses.some(([name, places]) =>
            name.test(target) && places.some((place) => path.startsWith(place))
          )
        )
        .map(({ target }) => `${path} → ${target}`)
    )
    expectNone(broken, 'Use the file or folder that has this package as its address (see ' +
      '`addresses` in this test), or give a new package one.')
  })

  it('reach every file from src/main.ts', () => {
    const reached = reachedFrom(byPath, ['src/main.ts'])
    const dead = house.filter(({ path }) => !reached.has(path)).map(({ path }) => path)
    expectNone(dead, 'Nobody imports it: delete it, or import what it is for.')
  })

  it('reach every file that tests share from a test', () => {
    // Clients that send traces, and the suites of others, are driven in processes of their own.
    const starts = new RegExp('^test/(.*\\.(test|long|night|newest)\\.ts|bench/bench\\.ts|' +
      'browser/page/page\\.ts|studio/support/setup\\.ts|support/(answer-check|bundle-setup)\\.ts|' +
      'support/budget/case-cost\\.ts|tracing/(setup\\.ts|[\\w/-]+\\.mjs)|' +
      'upstream/[\\w./-]+\\.mjs)$')
    const reached = reachedFrom(byPath, ['vitest.config.ts',
      ...paths.filter((path) => starts.test(path))])
    const dead = sources.map(({ path }) => path)
      .filter((path) => isTest(path) && !isProject(path) && !reached.has(path))
    expectNone(dead, 'No test uses it: delete it.')
  })

  it('use every value that is exported', () => {
    const used = new Set(sources.flatMap(({ imports }) =>
      imports
        .flatMap(({ target, names }) => names.map((name) => `${target} ${name}`))
    ))
    const dead = house.flatMap(({ path, exports }) =>
      exports
        .filter((name) => !used.has(`${path} ${name}`) && !used.has(`${path} *`))
        .map((name) => `${path}: ${name}`)
    )
    expectNone(dead, 'Nobody imports this name: do not export it, or delete it.')
  })
})

describe('a folder', () => {
  it('holds at most 25 files', () => {
    const sizes = Map.groupBy([...house, ...studio], ({ path }) => dirname(path))
    const broken = [...sizes].filter(([, files]) => files.length > 25)
      .map(([folder, files]) => `${folder} has ${files.length}`)
    expectNone(broken, 'Divide it by its second noun.')
  })
})

describe('a file', () => {
  it('opens with a caption', () => {
    const caption = /^(?:#!.*\n)?(\/\*\*[^]*?\*\/|(?:\/\/.*\n)+)/
    const broken = sources.filter(({ text }) => !/\w.*[.!?:]/.test(caption.exec(text)?.[1] ?? ''))
      .map(({ path }) => path)
    expectNone(broken, 'Begin the file with a sentence, in /** … */ or //, that says what it is.')
  })

  it('is short, and so are its lines', () => {
    const broken = sources.flatMap(({ path, text }) => {
      const lines = text.split('\n')
      const most = isTest(path) ? 500 : 400
      const long = lines.flatMap((line, index) => line.length > 100 ? [index + 1] : [])
      return [
        ...lines.length - 1 > most ? [`${path} has ${lines.length - 1} lines of ${most}`] : [],
        ...long.map((index) => `${path}:${index} is longer than 100 characters`),
      ]
    })
    expectNone(broken, 'Split the file by its nouns; break the line.')
  })

  it('is named for the noun in it', () => {
    const banned = /^(utils?|helpers?|common|types?|misc|shared)$/
    const broken = paths.filter((path) =>
      path.split('/').some((part) => banned.test(part.replace(/\..*$/, '')))
    )
    expectNone(broken, 'Name it for what it holds, or put that with the noun it serves.')
  })

  it('names no machine, and no registry', () => {
    const machine = /(?<![\w.])\/(home|root|Users|work|mnt|opt)\/\w|_authToken|"resolved":/
    const broken = paths.filter((path) => !/\.(png|jpg|ico|wasm)$/.test(path))
      .filter((path) => machine.test(readFileSync(join(root, path), 'utf8')))
      .filter((path) => path !== 'test/tidy.test.ts')
    expectNone(broken, 'Say it by a setting, a relative path or a temporary folder; in the lock ' +
      'file leave the address of the registry out (npm: omit-lockfile-registry-resolved).')
  })
})

describe('code', () => {
  it('has no debts, stars, defaults, enums or any', () => {
    const rules = {
      'a debt': ({ text }: SourceFile) => /\b(TODO|FIXME|XXX|HACK)\b/.test(text),
      'export *': ({ code }: SourceFile) => /^export \*/m.test(code),
      'a default export': ({ path, code }: SourceFile) =>
        /^export default|as default\b/m.test(code)
        && !isProject(path) && !/\.config\.(ts|mjs)$/.test(path),
      'an enum': ({ bare }: SourceFile) => /^\s*(export |declare |const )*enum\s+\w/m.test(bare),
      'any': ({ bare }: SourceFile) => /(?<=[:<|&,(]\s*|\bas )any\b(?!\w|\()/.test(bare),
    }
    const broken = sources.filter(({ path }) => path !== 'test/tidy.test.ts').flatMap((file) =>
      Object.entries(rules).filter(([, isBroken]) => isBroken(file))
        .map(([what]) => `${file.path}: ${what}`)
    )
    expectNone(broken, 'Do it now or leave it out; name exports one by one; use a union of ' +
      'string literals for an enum, and `unknown` with a check for any.')
  })

  it('takes clock, timers, chance and console from cluster/runtime/env.ts', () => {
    const direct = new RegExp([
      /\bDate\.now\b|\bnew Date\(\)|\bperformance\b|\bhrtime\b/,
      // How long a response may lie unread is known to its connection alone.
      /(?<!\bresponse\.)\bset(Timeout|Interval)\b|\bAbortSignal\.timeout\b/,
      /\bMath\.random\b|\brandom(UUID|Bytes|Int)\b|\bgetRandomValues\b/,
      /\bconsole\./,
    ].map(({ source }) => source).join('|'))
    // A worker that replays has a clock and a chance of its own, which that file sets.
    const windows = ['cluster/runtime/env.ts', 'src/graph/replay/replay-time.ts']
    const broken = house.filter(({ path, bare }) => !windows.includes(path) && direct.test(bare))
      .map(({ path, bare }) => `${path}: ${direct.exec(bare)?.[0]}`)
    expectNone(broken, 'Take an Env as an argument and ask it.')
  })

  it('writes to the console only in src/main.ts, beside the log', () => {
    const broken = house.filter(({ path, bare }) =>
      /\bprocess\.std(out|err)\b/.test(bare)
      && !['cluster/runtime/env.ts', 'src/main.ts'].includes(path)
    ).map(({ path }) => path)
    expectNone(broken, 'Use the log of the Env.')
  })

  it('says it in the words that everybody knows', () => {
    const spared = /^test\/(support\/projects|tidy\.test\.ts)|^deploy\/starter/
    const read = sources.filter(({ path }) => !spared.test(path))
    const broken = read.flatMap(({ path, text, bare }) => {
      const has = (where: string, end = '') => ([word]: readonly [string, string]) =>
        new RegExp(`\\b(?:${word})${end}`).test(where)
      return [
        ...Object.entries(dialect).filter(has(text)),
        ...Object.entries(dialectInNames).filter(has(bare, '\\b')),
      ].map(([word, cure]) => `${path}: ${word} → ${cure}`)
    })
    expectNone(broken, 'Use the term of the field, as on the right.')
  })

  it('says it in these words in comments, titles and pages as well', () => {
    const spared = /^(test\/(support\/projects|bench\/RESULTS|tidy\.test)|deploy\/starter)/
    const prose = paths.filter((path) => /\.(m?[jt]s|md|proto)$/.test(path) && !spared.test(path))
    const broken = prose.flatMap((path) =>
      proseIn(path).flatMap((text) =>
        [
          ...Object.entries(dialect).filter(([word]) => new RegExp(`\\b(?:${word})`).test(text)),
          ...Object.entries(dialectInProse)
            .filter(([word]) => new RegExp(`\\b(?:${word})\\b`, 'i').test(text)),
        ]
          .map(([word, cure]) => `${path}: ${word} → ${cure} in: ${text.trim().slice(0, 80)}`)
      )
    )
    expectNone(broken, 'Use the term of the field, as on the right.')
  })

  it('has a sentence above each exported declaration', () => {
    const declaration =
      /^export (?:declare |abstract |async )*(?:class|function\*?|interface|type|const|let) (\w+)/
    const said = sources.filter(({ path }) =>
      /^(src|cluster|scripts|test\/support)\//.test(path) && !path.endsWith('/index.ts') &&
      !isProject(path)
    )
    const broken = said.flatMap(({ path, text }) => {
      const lines = text.split('\n')
      return lines.flatMap((line, index) => {
        const name = declaration.exec(line)?.[1]
        // An operation says it in its summary, which the documentation shows.
        const isBare = name !== undefined && !/\*\/\s*$/.test(lines[index - 1] ?? '') &&
          !/ = operation\(/.test(line)
        return isBare ? [`${path}:${index + 1} ${name}`] : []
      })
    })
    expectNone(broken, 'Say in a comment above it, in one sentence, what it is: what a reader ' +
      'cannot see, such as its unit, its owner, what null means or what it throws.')
  })

  it('that decides for a thread waits for nothing', () => {
    const broken = house.filter(({ path }) => path.startsWith('src/thread/decide/'))
      .filter(({ bare }) => /\bawait\b|\basync\b|\bPromise\b/.test(bare))
      .map(({ path }) => path)
    expectNone(broken, 'Look it up in the turn (src/thread/actor), and decide on what was found.')
  })

  it('of cluster/ says no word of the product', () => {
    const product = /\b(thread|graph|superstep|checkpoint|assistant|run|langgraph)s?\b/i
    const broken = house.filter(({ path }) => path.startsWith('cluster/')).flatMap((file) =>
      file.text.split('\n').flatMap((line, index) => {
        const words = line.replaceAll(/([a-z])([A-Z])/g, '$1 $2')
        return product.test(words) ? [`${file.path}:${index + 1} ${line.trim()}`] : []
      })
    )
    expectNone(broken, 'Would the line still be right if the actors were chess games? Say it so, ' +
      'or move it to src/.')
  })

  it('of the two stores has the same name for the same table', () => {
    const tablesOf = (store: string) =>
      paths
        .filter((path) => path.startsWith(`src/store/${store}/`) && path.endsWith('-table.ts'))
        .map((path) => basename(path))
    // What a member owns lies in partitions of its shards, whichever kind it is.
    const alike = new Map(
      ['thread', 'assistant', 'cron', 'item'].map((
        kind,
      ) => [`${kind}-table.ts`, 'owned-row-table.ts']),
    )
    const cassandra = tablesOf('cassandra')
    const missing = tablesOf('embedded').filter((name) =>
      !cassandra.includes(alike.get(name) ?? name)
    )
    expectNone(missing, 'Give both stores a file for the same table, by the same name.')
  })
})

describe('scripts', () => {
  it('are all called by something', () => {
    const callers = ['package.json', '.ci/run', 'src/main.ts',
      ...paths.filter((path) => path.startsWith('scripts/'))].map((path) =>
        readFileSync(join(root, path), 'utf8')
      ).join('\n')
    const dead = readdirSync(join(root, 'scripts')).filter((name) => !callers.includes(name))
    expectNone(dead, 'Nobody calls it: delete it.')
  })
})

/** The comments of a source file and the titles of its tests, or the lines of a page. */
function proseIn(path: string): string[] {
  const text = readFileSync(join(root, path), 'utf8')
  const prose = path.endsWith('.md') ? text.split('\n') : [
    ...text.match(/\/\*[^]*?\*\/|(?<!:)\/\/ .*/g) ?? [],
    ...[...text.matchAll(/\b(?:it|describe)\b[^'"`\n]*(['"`])(.*?)\1/g)].map(([, , title]) =>
      title!
    ),
  ]
  return prose.map((part) => part.replaceAll(/`[^`]*`/g, '``'))
}
