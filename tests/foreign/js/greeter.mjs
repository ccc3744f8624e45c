// A plugin in JavaScript, built by `jco componentize`.

export function greet(name) {
    if (name === '') {
        // What is thrown becomes the `err` of the WIT result.
        throw 'whom should I greet?';
    }
    const text = `Hello, ${name}, from JavaScript`;
    return { text, length: [...text].length };
}

export function sum(numbers) {
    return numbers.reduce((total, number) => total + number, 0);
}

// Only the engine of browsers has `fetch`, and its world this function.
export async function fetchText(url) {
    let response;
    try {
        response = await fetch(url);
    } catch (error) {
        throw `${error}`;
    }
    // It decompresses nothing by itself.
    const coding = response.headers.get('content-encoding');
    if (coding) {
        response = new Response(response.body.pipeThrough(new DecompressionStream(coding)));
    }
    return await response.text();
}
