// Bundles the server into dist/heddle, if anything that it depends on has changed. A start of it
// loads 300 files instead of 4 400: measured on two cores, it takes half the time and half the
// processor. `node src/main.ts` runs the same server without.
import { spawnSync } from 'node:child_process'
import { existsSync, mkdirSync, readFileSync, readdirSync, renameSync, rmSync, statSync,
  writeFileSync } from 'node:fs'
import { dirname, join, relative, resolve } from 'node:path'

import { fileHash } from './file-hash.mjs'
import { root } from './node24.mjs'

const bundles = join(root, 'dist/heddle')
const program = join(bundles, 'main.js')

/** Of these, Heddle loads the copy that the project has. */
const ofProjects = ['@langchain/*', 'langchain', 'zod']

/** These read files beside their own, or start them. */
const whole = ['esbuild', 'typescript', 'ts-json-schema-generator', '@fastify/swagger-ui',
  '@grpc/*', 'nice-grpc', 'nice-grpc-common', 'undici']

/** These are looked for by packages that go without, and nobody installs them. */
const absent = ['kerberos', 'bufferutil', 'utf-8-validate']

/** An older bundle stays this long: a server that runs from it may still load a part. */
const keptMs = 24 * 60 * 60_000

/** Source files of the server, without those of the Studio's page. */
function sourceFiles() {
  return ['src', 'cluster', 'proto/gen'].flatMap((folder) =>
    readdirSync(join(root, folder), { recursive: true, withFileTypes: true })
      .filter((entry) => entry.isFile() && /\.(ts|js|json)$/.test(entry.name))
      .map(({ parentPath, name }) => join(parentPath, name))
  ).filter((file) => !file.startsWith(join(root, 'src/studio/'))).sort()
}

/** A hash of everything that the bundle depends on, as the name of its folder. */
function fingerprint(files) {
  return fileHash([...files.map((file) => relative(root, file)), 'package-lock.json',
    'scripts/bundle.mjs']).slice(0, 16)
}

/**
 * The commit of this folder, with `.dirty` if files differ from it. `HEDDLE_COMMIT` names it where
 * there is no Git, as in an image.
 */
function commitHere() {
  const named = process.env.HEDDLE_COMMIT?.replaceAll(/[^\w.-]/g, '-')
  if (named) return named
  // A folder above may be a repository of others.
  if (!existsSync(join(root, '.git'))) return 'no-commit'
  const { status, stdout } = spawnSync('git', ['describe', '--always', '--exclude=*', '--abbrev=8',
    '--dirty=.dirty'], { cwd: root, encoding: 'utf8' })
  return status === 0 ? stdout.trim() : 'no-commit'
}

/** Writes the note that `src/settings/build.ts` reads. A commit may change no source. */
function noteBuild(sources) {
  const note = join(bundles, sources, 'build.json')
  const text = `${JSON.stringify({ commit: commitHere(), sources })}\n`
  if (existsSync(note) && readFileSync(note, 'utf8') === text) return
  writeFileSync(`${note}.${process.pid}`, text)
  renameSync(`${note}.${process.pid}`, note)
}

const nameOf = (file) => relative(root, file).replace(/\.ts$/, '').replaceAll('/', '.')

/** Addresses that a module makes of its own, such as that of the file of a thread. */
const address = /new URL\(([^()]+?),\s*import\.meta\.url\)/g

/** The file of such an address. Throws for one that is only known when the code runs. */
function targetOf(file, expression) {
  const literal = /^\s*'([^']+)'\s*$/.exec(expression)
  if (literal !== null) return resolve(dirname(file), literal[1])
  throw new Error(`${relative(root, file)}: new URL(${expression}, import.meta.url) has no fixed ` +
    'place, and would lead elsewhere in the bundle. Write the path as a string.')
}

/** Files of which threads and processes begin: each has a file of its own in the bundle. */
function entriesOf(files) {
  const own = files.flatMap((file) =>
    [...readFileSync(file, 'utf8').matchAll(address)].map(([, path]) => targetOf(file, path))
  ).filter((target) => target.endsWith('.ts'))
  const entries = [...new Set(own)].map((file) => [nameOf(file), file])
  return Object.fromEntries([['main', join(root, 'src/main.ts')], ...entries])
}

/** Rewrites addresses: all code lies in one folder, three below the root. */
const places = {
  name: 'places',
  setup(build) {
    build.onLoad({ filter: /\.ts$/ }, ({ path }) => {
      const contents = readFileSync(path, 'utf8').replace(address, (_whole, expression) => {
        const target = targetOf(path, expression)
        const place = target.endsWith('.ts')
          ? `./${nameOf(target)}.js`
          // The folder of all source files is that of the bundle.
          : target === join(root, 'src')
          ? './'
          : `../../../${relative(root, target)}${endOf(expression)}`
        return `new URL('${place}', import.meta.url)`
      })
      return { contents, loader: 'ts' }
    })
  },
}

/** The slash at the end of the address of a folder. The root brings its own. */
const endOf = (expression) => /\w\/'\s*$/.test(expression) ? '/' : ''

async function write(files, folder) {
  const { build, stop } = await import('esbuild')
  await build({
    entryPoints: entriesOf(files),
    outdir: folder,
    bundle: true,
    splitting: true,
    format: 'esm',
    platform: 'node',
    target: 'node24',
    external: [...ofProjects, ...whole, ...absent],
    // Packages in CommonJS call it.
    banner: { js: "import { createRequire as heddleRequire } from 'node:module';" +
      'const require = heddleRequire(import.meta.url);' },
    sourcemap: true,
    sourcesContent: false,
    logLevel: 'warning',
    plugins: [places],
  })
  await stop()
}

/** Removes bundles that nobody runs any more. */
function tidy(current) {
  for (const { name } of readdirSync(bundles, { withFileTypes: true })) {
    const place = join(bundles, name)
    const isOld = Date.now() - statSync(place).mtimeMs > keptMs
    if (isOld && name !== current && place !== program) rmSync(place, { recursive: true })
  }
}

const files = sourceFiles()
const wanted = fingerprint(files)
const start = `import './${wanted}/main.js'\n`
if (!existsSync(program) || readFileSync(program, 'utf8') !== start) {
  const started = performance.now()
  // Another process may do the same now: each result appears as a whole, and either will do.
  const own = join(bundles, `.${process.pid}`)
  mkdirSync(own, { recursive: true })
  await write(files, join(own, 'bundle'))
  if (!existsSync(join(bundles, wanted))) renameSync(join(own, 'bundle'), join(bundles, wanted))
  writeFileSync(join(own, 'main.js'), start)
  renameSync(join(own, 'main.js'), program)
  rmSync(own, { recursive: true })
  tidy(wanted)
  console.log(
    `Heddle: bundled the server (${((performance.now() - started) / 1000).toFixed(1)} s).`,
  )
}
noteBuild(wanted)
