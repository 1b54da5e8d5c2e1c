/** The command `npm run try-project`: tries projects that others wrote, and prints a table. */

import { readFileSync } from 'node:fs'
import { resolve } from 'node:path'
import { parseArgs, parseEnv } from 'node:util'

import { attempt, limits } from './attempt.ts'
import type { Attempt } from './attempt.ts'
import { openModelStub } from './model-stub.ts'

const limitsText = Object.entries(limits).map(([step, seconds]) => `${step} ${seconds} s`)
  .join(', ')

const help =
  `Usage: npm run try-project -- [--json] [--graph <name>] [--run <JSON>] [--env-file <file>]
                              <folder>…

Tries each project as it is: installs its packages if it has none, builds it, serves it, deploys it,
and calls it before and after. A folder has a langgraph.json; so may be named a langgraph.json.
Models are a stub on loopback: OPENAI_BASE_URL, ANTHROPIC_BASE_URL and GOOGLE_GEMINI_BASE_URL
name it.
A project with a login of its own is tried with --ignore-auth: nobody here could log in.

Each step has a limit: ${limitsText}.
Ends with 0 if all passed, 1 if not, 2 if nothing was tried.

  --json          Prints a line of JSON for each project, when it has been tried.
  --graph <name>  Calls this graph; by default, the first with messages, or else the first.
  --run <JSON>    Gives the run these members, as input or config; by default, a short message.
  --env-file <file>
                  Gives the project these variables beside those that name the stub.
  --help          Prints this.
`

const columns = ['project', 'engine', 'install', 'served', 'built', 'deployed', 'called', 'inside',
  'message'] as const satisfies readonly (keyof Attempt)[]

process.exitCode = await main()

async function main(): Promise<number> {
  const { values, positionals } = parseArgs({ allowPositionals: true,
    options: { json: { type: 'boolean' }, help: { type: 'boolean' }, graph: { type: 'string' },
      run: { type: 'string' }, 'env-file': { type: 'string' } } })
  if (values.help === true || positionals.length === 0) {
    process.stdout.write(help)
    return values.help === true ? 0 : 2
  }
  const folder = process.env.INIT_CWD ?? process.cwd()
  const run = JSON.parse(values.run ?? '{}') as Record<string, unknown>
  const { 'env-file': file } = values
  const own = file === undefined ? {} : parseEnv(readFileSync(resolve(folder, file), 'utf8'))
  const stub = await openModelStub()
  const rows: Attempt[] = []
  try {
    for (const path of positionals) {
      const row = await attempt(resolve(folder, path), {
        variables: { ...stub.variables, ...own } as Record<string, string>,
        graph: values.graph,
        run,
      })
      rows.push(row)
      if (values.json === true) process.stdout.write(`${JSON.stringify(row)}\n`)
    }
  } finally {
    stub.close()
  }
  if (values.json !== true) process.stdout.write(tableOf(rows))
  return rows.every(({ called }) => called === 'served, deployed') ? 0 : 1
}

function tableOf(rows: readonly Attempt[]): string {
  const lines = [columns, columns.map(() => '---'),
    ...rows.map((row) => columns.map((column) => row[column].replaceAll('|', '\\|')))]
  return lines.map((cells) => `| ${cells.join(' | ')} |\n`).join('')
}
