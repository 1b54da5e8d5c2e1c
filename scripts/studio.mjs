// Builds the Studio into dist/studio, if anything that it depends on has changed; with --dev it
// serves it with hot reload instead: studio.mjs [--dev [--server URL] [--port N]]
import { createHash } from 'node:crypto'
import { existsSync, readFileSync, readdirSync, writeFileSync } from 'node:fs'
import { join, relative } from 'node:path'
import { parseArgs } from 'node:util'
import { brotliCompressSync, constants, gzipSync } from 'node:zlib'

import { namesOf, sheetsIn } from './class-names.mjs'
import { fileHash } from './file-hash.mjs'
import { root } from './node24.mjs'

const source = join(root, 'src/studio')
const built = join(root, 'dist/studio')
const stamp = join(root, 'dist/studio.stamp')
const local = '127.0.0.1'

/** A hash of everything that the bundle depends on. The schemas give it types only. */
function fingerprint() {
  const sources = readdirSync(source, { recursive: true, withFileTypes: true })
    .filter((entry) => entry.isFile())
    .map(({ parentPath, name }) => relative(root, join(parentPath, name)))
  return fileHash([...sources, 'package-lock.json', 'scripts/class-names.mjs',
    'scripts/studio.mjs'])
}

/** Names of classes that differ between sheets. While one edits, none may change with another. */
function scopedNames(isBuild) {
  const names = isBuild ? namesOf(sheetsIn(source)) : undefined
  return (name, sheet) => {
    const key = `${relative(source, sheet.replace(/\?.*/, ''))} ${name}`
    if (names === undefined) {
      return `h${createHash('sha256').update(key).digest('base64url').slice(0, 5)}`
    }
    const short = names.get(key)
    if (short === undefined) throw new Error(`${key} is a class that no sheet was seen to have.`)
    return short
  }
}

async function configuration({ isBuild }) {
  const { default: react } = await import('@vitejs/plugin-react')
  return {
    configFile: false,
    root: source,
    base: './',
    logLevel: 'warn',
    plugins: [react(), firstPaint()],
    worker: { format: 'es' },
    css: { modules: { generateScopedName: scopedNames(isBuild) } },
    build: {
      outDir: built,
      emptyOutDir: true,
      target: 'es2023',
      modulePreload: { polyfill: false },
      // Inlined files would need exceptions in the content security policy.
      assetsInlineLimit: 0,
      cssCodeSplit: false,
      reportCompressedSize: false,
      chunkSizeWarningLimit: 1_000,
      // What every page needs is one file: a dozen small ones are asked for and packed worse.
      rolldownOptions: {
        output: { codeSplitting: { groups: [
          { name: 'studio', tags: ['$initial'], priority: 2 },
          { name: 'shared', test: ours, minShareCount: 5, priority: 1 },
        ] } },
      },
    },
  }
}

/**
 * Puts the shell's looks and the choice of colours into the page itself, so that the first paint
 * waits for no other file. The sheet of everything else comes after the shell: what stands before
 * it is painted meanwhile, and scripts wait for it.
 */
const firstPaint = () => ({
  name: 'first-paint',
  transformIndexHtml: {
    order: 'post',
    handler: async (html) => {
      const { transform } = await import('esbuild')
      const read = (name) => readFileSync(join(source, name), 'utf8')
      const looks = read('design/tokens.css') + read('shell/first-paint.css')
      const [style, theme] = await Promise.all([transform(looks, { loader: 'css', minify: true }),
        transform(read('public/theme.js'), { minify: true })])
      const [sheet = ''] = /<link rel="stylesheet"[^>]*>/.exec(html) ?? []
      return html.replace(sheet, '')
        .replace(/<script\s+src="\.\/theme\.js"><\/script>/,
          () => `<script>${theme.code.trim()}</script>`)
        .replace('</head>', () => `<style>${style.code.trim()}</style></head>`)
        .replace('</body>', () => `${sheet}</body>`)
    },
  },
})

/** Modules that many pages share, but for those that bring a large package along. */
const ours = /src\/studio\/(?!parts\/(dialog|menu|markdown)\.)(parts|rows|api|addresses|live)\//

async function build(wanted) {
  const { build } = await import('vite')
  // Tests build it too, and their environment would make it a build for development.
  process.env.NODE_ENV = 'production'
  const started = performance.now()
  await build(await configuration({ isBuild: true }))
  await buildComponentPage()
  compress()
  writeFileSync(stamp, wanted)
  console.log(`Heddle: built the Studio (${((performance.now() - started) / 1000).toFixed(1)} s).`)
}

/** Writes the page of a component: one file, whose script its headers name by a hash. */
async function buildComponentPage() {
  const esbuild = await import('esbuild')
  const { outputFiles: [{ text }] } = await esbuild.build({
    entryPoints: [join(source, 'component.tsx')],
    bundle: true,
    minify: true,
    format: 'iife',
    target: 'es2023',
    write: false,
  })
  await esbuild.stop()
  // Within a comment of HTML, a script would not end where it ends.
  const script = text.replaceAll('<!--', '\\x3c!--').replaceAll('</script', '<\\/script')
  const style = 'html { font: 14px ui-sans-serif, system-ui, sans-serif } body { margin: 0 }'
  writeFileSync(join(built, 'component.html'),
    '<!doctype html><html lang="en"><meta charset="utf-8"><title>Component</title>' +
      `<style>${style}</style><body><script>${script}</script></body></html>`)
}

/** Writes a compressed copy beside each file that gets smaller by it. */
function compress() {
  for (const { parentPath, name } of readdirSync(built, { recursive: true, withFileTypes: true })) {
    if (!/\.(js|css|html|svg)$/.test(name)) continue
    const file = join(parentPath, name)
    const bytes = readFileSync(file)
    writeFileSync(`${file}.gz`, gzipSync(bytes, { level: 9 }))
    const quality = { [constants.BROTLI_PARAM_QUALITY]: 9 }
    writeFileSync(`${file}.br`, brotliCompressSync(bytes, { params: quality }))
  }
}

/** Serves the source with hot reload. Calls of the API go to a running server. */
async function develop({ server, port }) {
  const { createServer } = await import('vite')
  const config = await configuration({ isBuild: false })
  const outside = { target: server, changeOrigin: true, ws: true }
  const dev = await createServer({
    ...config,
    base: '/studio/',
    server: {
      host: local,
      port: Number(port),
      proxy: { '^/(?!studio/)': outside },
    },
  })
  await dev.listen()
  console.log(`The Studio with hot reload: http://${local}:${dev.config.server.port}/studio/`)
  console.log(`Its calls go to ${server}; --server names another.`)
}

const { values } = parseArgs({ options: {
  dev: { type: 'boolean' },
  server: { type: 'string', default: `http://${local}:2024` },
  port: { type: 'string', default: '5199' },
} })

if (values.dev) {
  await develop(values)
} else {
  const wanted = fingerprint()
  if (!existsSync(stamp) || readFileSync(stamp, 'utf8') !== wanted) {
    try {
      await build(wanted)
    } catch (error) {
      // Everything else of the server works without it.
      console.warn(`Heddle: the Studio could not be built, and is not served. ${error.message}`)
    }
  }
}
