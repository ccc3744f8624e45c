// Features of MCP, as one of the official TypeScript SDKs has them, in one session
// after the other.
//
// Usage: features.mjs SDK
//
// SDK is `v1` (@modelcontextprotocol/sdk) or `v2` (@modelcontextprotocol/client).
// Each line of the standard input is a session, a JSON object: its `mode`, which only v2
// knows, is `legacy`, `auto` or a version of the protocol; its `place` an array, a URL
// (where a `token` may be wanted) or the words that start a server in an `environment`;
// its `steps` are objects, each with the name of a feature in `do`, its arguments, and
// perhaps `answers` to what the server asks meanwhile. For each session prints a line,
// the same as the Python clients do: the `outcomes` of its steps, or why it `failed`.
// Ends when there are no more lines.

import { readFile, rename, writeFile } from 'node:fs/promises';
import { createRequire } from 'node:module';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { setTimeout as sleep } from 'node:timers/promises';
import { pathToFileURL } from 'node:url';

// The packages are not beside this file but below target/.
const require = createRequire(join(process.env.DORMOUSE_TEST_NPM, 'package.json'));
const load = (name) => import(pathToFileURL(require.resolve(name)).href);

const info = { name: 'dormouse-tests', version: '0.0.0' };
const capabilities = { elicitation: { form: {}, url: {} }, sampling: {}, roots: {} };
const options = { timeout: 60_000, resetTimeoutOnProgress: true };

/** What a session's server has told unasked and nobody has waited for yet. */
class News {
    heard = [];
    wake = () => {};

    hear = (message) => {
        this.heard.push(message);
        this.wake();
    };

    async next() {
        if (this.heard.length === 0) {
            const late = sleep(20_000, undefined, { ref: false }).then(() => {
                throw new Error('the server has told nothing for 20 s');
            });
            await Promise.race([new Promise((resolve) => (this.wake = resolve)), late]);
        }
        return this.heard.shift();
    }
}

/** The answers of a session's step, and what they were answers to. */
class Asked {
    answers = {};
    questions = [];

    /** By method, what this client answers. */
    answering = {
        'elicitation/create': () => this.answers.elicit.shift(),
        'sampling/createMessage': () => ({
            role: 'assistant',
            model: 'nobody',
            content: { type: 'text', text: this.answers.sample },
        }),
        // Some servers want to know them whatever they are called for.
        'roots/list': () => ({ roots: (this.answers.roots ?? []).map((uri) => ({ uri })) }),
    };

    answer = (method) => (request) => {
        this.questions.push({ method, params: request.params ?? {} });
        return this.answering[method]();
    };
}

/** What both SDKs have, under the names that the features use. */
async function connect({ mode, place: [command, ...args], environment, token }) {
    const news = new News();
    const asked = new Asked();
    const { hear } = news;
    const { answer } = asked;
    const http = command.startsWith('http://');
    const env = { ...process.env, ...environment };
    const server = http ? new URL(command) : { command, args, env, stderr: 'inherit' };
    const headers = token ? { authorization: `Bearer ${token}` } : {};
    const transport = (Transport) => new Transport(server, ...(http ? [{ requestInit: { headers } }] : []));
    if (sdk === 'v1') {
        const { Client } = await load('@modelcontextprotocol/sdk/client/index.js');
        const { StdioClientTransport } = await load('@modelcontextprotocol/sdk/client/stdio.js');
        const { StreamableHTTPClientTransport } = await load('@modelcontextprotocol/sdk/client/streamableHttp.js');
        const Transport = http ? StreamableHTTPClientTransport : StdioClientTransport;
        const types = await load('@modelcontextprotocol/sdk/types.js');
        const client = new Client(info, { capabilities });
        client.setRequestHandler(types.ElicitRequestSchema, answer('elicitation/create'));
        client.setRequestHandler(types.CreateMessageRequestSchema, answer('sampling/createMessage'));
        client.setRequestHandler(types.ListRootsRequestSchema, answer('roots/list'));
        client.setNotificationHandler(types.ToolListChangedNotificationSchema, hear);
        client.setNotificationHandler(types.ResourceUpdatedNotificationSchema, hear);
        await client.connect(transport(Transport));
        const call = (params, more) => client.callTool(params, undefined, { ...options, ...more });
        return { client, call, news, asked, modern: false };
    }
    const { Client, StreamableHTTPClientTransport } = await load('@modelcontextprotocol/client');
    const { StdioClientTransport } = await load('@modelcontextprotocol/client/stdio');
    const Transport = http ? StreamableHTTPClientTransport : StdioClientTransport;
    const client = new Client(info, {
        capabilities,
        versionNegotiation: { mode: ['legacy', 'auto'].includes(mode) ? mode : { pin: mode } },
        listChanged: { tools: { onChanged: hear } },
    });
    for (const method of Object.keys(asked.answering)) client.setRequestHandler(method, answer(method));
    client.setNotificationHandler('notifications/resources/updated', hear);
    await client.connect(transport(Transport));
    const call = (params, more) => client.callTool(params, { ...options, ...more });
    const protocol = client.getNegotiatedProtocolVersion();
    return { client, call, news, asked, protocol, modern: protocol >= '2026' };
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
    async replace({ client, call, news }, { file, by, tool, arguments: args }) {
        const names = async () => (await client.listTools()).tools.map((tool) => tool.name);
        const before = await names();
        const fresh = `${file}.next`;
        await writeFile(fresh, await readFile(by));
        await rename(fresh, file);
        await news.next();
        const after = await names();
        return { before, after, result: await call({ name: tool, arguments: args }) };
    },

    // Calls a tool that changes this session's list, and lists when told so.
    async load({ client, call, news, modern }, { tool, arguments: args }) {
        const result = await call({ name: tool, arguments: args });
        // Without a session, there is no list that could change.
        if (!modern) await news.next();
        return { result, tools: (await client.listTools()).tools };
    },

    // Takes steps in a session beside this one.
    async beside({ same }, { steps }) {
        return { outcomes: await run(same, steps) };
    },

    async prompts({ client }) {
        return client.listPrompts();
    },

    async prompt({ client }, { name, arguments: args }) {
        return client.getPrompt({ name, arguments: args }, options);
    },

    async complete({ client }, { ref, argument, known }) {
        const params = { ref, argument, context: { arguments: known } };
        return (await client.complete(params)).completion;
    },

    async resources({ client }) {
        const { resources } = await client.listResources();
        const { resourceTemplates: templates } = await client.listResourceTemplates();
        return { resources, templates };
    },

    async read({ client }, { uri }) {
        return client.readResource({ uri });
    },

    // Subscribes to a resource that a tool changes, and later no more.
    async subscribe({ client, call, news, modern }, { uri, tool }) {
        const listening = modern ? await client.listen({ resourceSubscriptions: [uri] }) : undefined;
        if (!modern) await client.subscribeResource({ uri });
        await call({ name: tool, arguments: {} });
        const heard = [await news.next()];
        if (modern) await listening.close();
        else await client.unsubscribeResource({ uri });
        await call({ name: tool, arguments: {} });
        await sleep(300);
        return { heard: [...heard, ...news.heard].map((message) => message.params.uri) };
    },
};

async function step(session, { do: feature, answers = {}, ...args }) {
    const { asked } = session;
    asked.answers = answers;
    asked.questions = [];
    let outcome;
    try {
        outcome = await features[feature](session, args);
    } catch (error) {
        // What the server answers; anything else is the end.
        if (typeof error.code !== 'number') throw error;
        outcome = { error: { code: error.code, message: error.message } };
    }
    return asked.questions.length > 0 ? { ...outcome, asked: asked.questions } : outcome;
}

/** Takes steps in a session with a server. */
async function run(server, steps) {
    const session = { ...(await connect(server)), same: server };
    try {
        const outcomes = [];
        for (const one of steps) outcomes.push(await step(session, one));
        return outcomes;
    } finally {
        await session.client.close();
    }
}

const [sdk] = process.argv.slice(2);
for await (const line of createInterface({ input: process.stdin })) {
    const { steps, ...server } = JSON.parse(line);
    let came;
    try {
        came = { outcomes: await run(server, steps) };
    } catch (error) {
        came = { failed: error.stack ?? String(error) };
    }
    console.log(JSON.stringify(came));
}
// A session that has failed may have left something that would go on.
process.exit();
