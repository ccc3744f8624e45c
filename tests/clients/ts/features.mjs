// One feature of MCP, as one of the official TypeScript SDKs has it, against a
// server.
//
// Usage: features.mjs SDK MODE FEATURE ARGUMENTS (URL | COMMAND [ARGUMENT...])
//
// SDK is `v1` (@modelcontextprotocol/sdk) or `v2` (@modelcontextprotocol/client);
// MODE, which only v2 knows, is `legacy`, `auto` or a version of the protocol;
// ARGUMENTS is JSON. Prints one JSON object, the same as the Python client does.

import { readFile, rename, writeFile } from 'node:fs/promises';
import { createRequire } from 'node:module';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { pathToFileURL } from 'node:url';

// The packages are not beside this file but below target/.
const require = createRequire(join(process.env.DORMOUSE_TEST_NPM, 'package.json'));
const load = (name) => import(pathToFileURL(require.resolve(name)).href);

const info = { name: 'dormouse-tests', version: '0.0.0' };
const options = { timeout: 60_000, resetTimeoutOnProgress: true };

/** What both SDKs have, under the names that the features use. */
async function connect(sdk, mode, [command, ...args]) {
    const http = command.startsWith('http://');
    const server = http ? new URL(command) : { command, args, env: process.env, stderr: 'inherit' };
    let hear;
    const changed = new Promise((resolve) => (hear = resolve));
    if (sdk === 'v1') {
        const { Client } = await load('@modelcontextprotocol/sdk/client/index.js');
        const { StdioClientTransport } = await load('@modelcontextprotocol/sdk/client/stdio.js');
        const { StreamableHTTPClientTransport } = await load('@modelcontextprotocol/sdk/client/streamableHttp.js');
        const Transport = http ? StreamableHTTPClientTransport : StdioClientTransport;
        const { ToolListChangedNotificationSchema } = await load('@modelcontextprotocol/sdk/types.js');
        const client = new Client(info);
        client.setNotificationHandler(ToolListChangedNotificationSchema, () => hear());
        await client.connect(new Transport(server));
        const call = (params, more) => client.callTool(params, undefined, { ...options, ...more });
        return { client, changed, call, protocol: undefined };
    }
    const { Client, StreamableHTTPClientTransport } = await load('@modelcontextprotocol/client');
    const { StdioClientTransport } = await load('@modelcontextprotocol/client/stdio');
    const Transport = http ? StreamableHTTPClientTransport : StdioClientTransport;
    const client = new Client(info, {
        versionNegotiation: { mode: ['legacy', 'auto'].includes(mode) ? mode : { pin: mode } },
        listChanged: { tools: { onChanged: () => hear() } },
    });
    await client.connect(new Transport(server));
    const call = (params, more) => client.callTool(params, { ...options, ...more });
    return { client, changed, call, protocol: client.getNegotiatedProtocolVersion?.() };
}

const features = {
    async list({ client, protocol }) {
        const { tools } = await client.listTools();
        return { server: client.getServerVersion().name, protocol, tools };
    },

    async call({ client, call }, { tool, arguments: args }) {
        // What the SDK checks a structured result against.
        await client.listTools();
        return call({ name: tool, arguments: args });
    },

    async progress({ call }, { tool, arguments: args }) {
        const heard = [];
        const onprogress = ({ progress, total, message }) => heard.push([progress, total, message]);
        const result = await call({ name: tool, arguments: args }, { onprogress });
        return { heard, result };
    },

    // Cancels a call that never ends, after others have gone on beside it.
    async cancel({ call }, { tool, arguments: args, other, while_running: whileRunning }) {
        const abort = new AbortController();
        const running = call({ name: tool, arguments: args }, { signal: abort.signal }).then(
            () => 'answered',
            () => 'cancelled',
        );
        await sleep(500);
        const others = [];
        for (let n = 0; n < whileRunning; n++) {
            others.push(await call({ name: other, arguments: { text: String(n) } }));
        }
        const start = performance.now();
        abort.abort();
        const ended = await running;
        others.push(await call({ name: other, arguments: { text: 'after' } }));
        const milliseconds = performance.now() - start;
        return { ended, others: others.map((result) => result.content[0].text), milliseconds };
    },

    // Replaces a plugin's file, waits to be told, and calls what is new.
    async replace({ client, call, changed }, { file, by, tool, arguments: args }) {
        const names = async () => (await client.listTools()).tools.map((tool) => tool.name);
        const before = await names();
        const fresh = `${file}.next`;
        await writeFile(fresh, await readFile(by));
        await rename(fresh, file);
        const late = sleep(20_000, undefined, { ref: false }).then(() => {
            throw new Error('no notifications/tools/list_changed within 20 s');
        });
        await Promise.race([changed, late]);
        const after = await names();
        return { before, after, result: await call({ name: tool, arguments: args }) };
    },
};

const [sdk, mode, feature, args, ...launch] = process.argv.slice(2);
const session = await connect(sdk, mode, launch);
const answer = await features[feature](session, JSON.parse(args));
await session.client.close();
console.log(JSON.stringify(answer));
