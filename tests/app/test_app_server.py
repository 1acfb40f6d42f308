"""The server of the app without a browser: who is let in, what is handed out, and what stays behind."""

import http.client
import io
import json
import os
import re
import signal
import subprocess
import sys
import threading
import time
import zipfile
from importlib.resources import files
from types import SimpleNamespace
from urllib.parse import quote, urlsplit

import pytest

from isinglass.app import session as app_session
from isinglass.app.jobs import OPEN, Job, Jobs
from isinglass.app.server import Server
from isinglass.app.session import Session, plain_name


@pytest.fixture
def server(tmp_path):
    with Server(tmp_path) as found:
        threading.Thread(target=found.serve_forever, args=(0.05,), daemon=True).start()
        yield found
        found.shutdown()


class Client:
    """Asks as a browser does, unless told otherwise."""

    def __init__(self, server):
        self.server, self.address = server, urlsplit(server.address)
        self.own = {"Origin": f"http://{self.address.netloc}"}

    def ask(self, method="GET", where="", body=None, path=None, **headers):
        connection = http.client.HTTPConnection(self.address.hostname, self.address.port, timeout=60)
        headers = {name.replace("_", "-"): value for name, value in headers.items()}
        connection.request(method, self.address.path + where if path is None else path, body, headers)
        answer = connection.getresponse()
        content = answer.read()
        connection.close()
        return answer, content

    def post(self, where, record=None, **headers):
        how = {"Content_Type": "application/json", **self.own, **headers}
        answer, content = self.ask("POST", where, json.dumps(record), **how)
        return answer.status, json.loads(content)

    def choose(self, changes):
        """Send a choice about the columns that are shown, and return the status."""
        return self.post(f"choose/{self.state()['layout']}", changes)[0]

    def upload(self, name, content):
        answer, _ = self.ask("POST", f"upload/{quote(name, safe='')}", content, **self.own)
        assert answer.status == 200

    def state(self):
        return json.loads(self.ask(where="state/0")[1])

    def wait(self, done, seconds=60):
        end = time.monotonic() + seconds
        while not done(state := self.state()):
            assert time.monotonic() < end, state
            time.sleep(0.05)
        return state


def is_idle(state):
    return not any(job["state"] in OPEN for job in state["jobs"])


@pytest.fixture
def client(server):
    return Client(server)


@pytest.fixture
def mood():
    return files("isinglass.app").joinpath("mood.csv").read_bytes()


def test_the_page_forbids_everything_from_elsewhere(client):
    answer, content = client.ask()
    assert answer.status == 200
    assert b"From a table to a network" in content
    policy = answer.headers["Content-Security-Policy"]
    assert "default-src 'none'" in policy
    assert "unsafe" not in policy
    assert "frame-ancestors 'none'" in policy
    assert answer.headers["Referrer-Policy"] == "no-referrer"  # the address holds the token
    assert "Access-Control-Allow-Origin" not in answer.headers
    assert client.server.server_address[0] == "127.0.0.1"


@pytest.mark.parametrize("where", ["", "state", "app.js", "all.zip", "files/mood/edges.csv", "nothing"])
def test_nothing_is_handed_out_without_the_token(client, where):
    token = client.server.token
    for wrong in (
        "",
        token[:-1],
        token[:-1] + chr(ord(token[-1]) ^ 1),
        token + "x",
        "%00",
    ):
        answer, content = client.ask(path=f"/{wrong}/{where}")
        assert answer.status == 403, wrong
        assert token.encode() not in content


def test_tokens_differ_and_cannot_be_guessed(tmp_path):
    tokens = set()
    for k in range(3):
        (tmp_path / str(k)).mkdir()
        with Server(tmp_path / str(k)) as found:
            tokens.add(found.token)
    assert len(tokens) == 3
    assert min(map(len, tokens)) >= 32


@pytest.mark.parametrize("host", ["evil.example", "127.0.0.1", "127.0.0.1:1", "localhost.evil.example", ""])
def test_a_name_that_was_bent_to_this_computer_is_refused(client, host):
    assert client.ask(Host=host)[0].status == 403
    assert client.post("example/mood.csv", Host=host)[0] == 403
    assert client.state()["file"] == ""


@pytest.mark.parametrize("origin", ["http://evil.example", "null", "https://127.0.0.1", "http://127.0.0.1:1", None])
def test_a_request_of_another_page_changes_nothing(client, origin):
    headers = {} if origin is None else {"Origin": origin}
    for where in ("example/mood.csv", "choose", "run/fit", "stop/1", "upload/a.csv"):
        answer, _ = client.ask("POST", where, b"{}", Content_Type="application/json", **headers)
        assert answer.status == 403, where
    assert client.state()["file"] == ""
    if origin is not None:
        assert client.ask(**headers)[0].status == 403


def test_a_browser_that_says_cross_site_is_refused(client):
    assert client.post("example/mood.csv", Sec_Fetch_Site="cross-site")[0] == 403


@pytest.mark.parametrize("method", ["PUT", "DELETE", "OPTIONS", "HEAD", "TRACE"])
def test_other_methods_are_unknown(client, method):
    assert client.ask(method, **client.own)[0].status == 501


def test_a_form_of_another_page_cannot_send_json(client):
    """Forms send without asking first, but not this type."""
    assert client.post("example/mood.csv", Content_Type="text/plain")[0] == 400


@pytest.mark.parametrize(
    "body", [b"", b"{", b"[" * 100_000, b"null", b"7", b"\xff", b'{"job": ["fit"]}', b'{"number": true}']
)
@pytest.mark.parametrize("where", ["example/x", "choose", "run/no", "run", "stop/x", "stop", "nothing"])
def test_what_is_no_request_is_refused(client, where, body):
    answer, content = client.ask("POST", where, body, Content_Type="application/json", **client.own)
    assert answer.status == 400
    assert json.loads(content)["error"]


def test_an_upload_is_bounded_before_it_is_read(client, monkeypatch):
    monkeypatch.setattr(app_session, "MOST_BYTES", 1000)
    answer, content = client.ask("POST", "upload/a.csv", b"x" * 1001, **client.own)
    assert (answer.status, b"up to" in content) == (400, True)
    connection = http.client.HTTPConnection("127.0.0.1", client.server.server_port, timeout=10)
    connection.putrequest("POST", client.address.path + "upload/a.csv")
    for name, value in {**client.own, "Content-Length": str(10**15)}.items():
        connection.putheader(name, value)
    connection.endheaders()
    assert connection.getresponse().status == 400  # none of it was sent
    assert client.state()["file"] == ""
    assert list(client.server.session.folder.iterdir()) == []


def test_an_upload_without_its_end_leaves_nothing(tmp_path):
    session = Session(tmp_path)
    try:
        with pytest.raises(ValueError, match="incomplete"):
            session.upload("a.csv", io.BytesIO(b"abc"), 10)
        assert list(tmp_path.iterdir()) == []
    finally:
        session.jobs.close()


@pytest.mark.parametrize(
    "name",
    ["../../evil.csv", "/etc/passwd", "..\\..\\evil.csv", "%2e%2e%2fevil.csv", "-o.csv", ".", "a\0b", "con.csv\n"],
)
def test_a_name_is_never_a_path(client, name):
    client.upload(name, b"a,b\n0,1\n1,0\n")
    kept = [path for path in client.server.session.folder.rglob("*") if path.is_file()]
    assert len(kept) == 1
    assert re.fullmatch(r"\w[\w-]*(\.\w[\w-]*)+", kept[0].name)
    assert kept[0].parent.parent == client.server.session.folder


def test_a_name_keeps_what_says_the_format():
    assert plain_name("Data (final).CSV.gz") == "Data-final.CSV.gz"
    assert plain_name("nltcs.train.csv.gz") == "nltcs.train.csv.gz"
    assert plain_name("größe.sav") == "größe.sav"
    assert [plain_name(name) for name in ("../../etc/passwd", "-o.csv", "..")] == ["passwd.txt", "o.csv", "table.txt"]
    assert len(plain_name("x" * 5000 + ".csv")) <= 90


def test_from_a_file_to_files(client, mood):
    client.upload("mood.csv", mood)
    state = client.wait(lambda state: state["table"])
    assert "--weights weight" in state["steps"]["fit"]["command"]  # as `isinglass info` proposes
    assert state["table"]["n_rows"] == 500
    columns = {column["name"]: column for column in state["table"]["columns"]}
    assert columns["sad"]["kind"] == "binary"
    assert columns["sad"]["values"] == ["no", "yes"]
    assert columns["sad"]["missing"] == pytest.approx(0.01)
    choices = {**state["choices"], "weights": 0, "missing": "drop"}
    assert client.choose(choices) == 200
    assert "--weights weight" in client.state()["steps"]["fit"]["command"]
    assert client.post("run/bootstrap")[0] == 400  # nothing is fitted yet
    assert client.post("run/fit")[0] == 200
    assert client.post("run/fit")[0] == 200  # as after a double click
    assert [job["kind"] for job in client.state()["jobs"] if job["state"] in OPEN] == ["fit"]
    state = client.wait(lambda state: "fit" in state["results"])
    assert "Certificate" in dict(state["results"]["fit"]["facts"])
    for name in ("mood/edges.csv", "mood/nodes.csv", "mood/model.npz", "mood.html"):
        answer, content = client.ask(where=f"files/{name}")
        assert (answer.status, len(content) > 100) == (200, True)
        assert "sandbox" in answer.headers["Content-Security-Policy"]
        assert "allow-same-origin" not in answer.headers["Content-Security-Policy"]
    for name in ("mood.csv", "../mood.csv", "mood/../mood.csv", "mood/..%2fmood.csv", "/etc/passwd", "mood", ""):
        assert client.ask(where=f"files/{name}")[0].status == 404
    with zipfile.ZipFile(io.BytesIO(client.ask(where="all.zip")[1])) as archive:
        assert {"mood/edges.csv", "mood.html", "commands.sh", "analysis.py"} <= set(archive.namelist())
        assert archive.read("mood/edges.csv") == client.ask(where="files/mood/edges.csv")[1]
    client.choose({**choices, "left_out": [1]})
    assert client.state()["stale"]
    assert client.post("run/bootstrap")[0] == 400  # of another table than the fit
    client.choose(choices)
    assert not client.state()["stale"]


def test_a_choice_that_cannot_be_read_is_undone(client):
    client.upload("a.csv", b"a,b,c\n" + b"x,1,0\ny,2,1\nz,3,1\nx,1,1\n" * 20)
    state = client.wait(lambda state: state["table"])
    assert client.choose({"kinds": {"0": "continuous"}}) == 200
    state = client.wait(lambda state: state["problem"])
    assert "'a'" in state["problem"]
    assert state["choices"]["kinds"] == {}
    assert client.choose({"kinds": {"0": "nominal"}}) == 200
    state = client.wait(is_idle)
    assert (state["choices"]["kinds"], state["problem"]) == ({"0": "nominal"}, "")


def test_other_choices_outlive_one_that_is_refused(client):
    """Of kinds that were chosen one after the other, before the first was refused, and with another choice."""
    client.upload("a.csv", b"a,b,c\n" + b"x,1,0\ny,2,1\nz,3,1\nx,1,1\n" * 20)
    client.wait(lambda state: state["table"])
    with client.server.session.jobs.changed:  # the table is not read before all is chosen
        for changes in (
            {"kinds": {"0": "continuous"}, "left_out": [2]},
            {"kinds": {"1": "nominal"}},
            {"codes": {"0": ["z"]}, "missing": "drop"},
        ):
            client.server.session.choose(changes)
    state = client.wait(is_idle)
    assert state["problem"].startswith("The kind of “a” was not changed; other choices are kept. a.csv: column 'a'")
    choices = state["choices"]
    assert (choices["kinds"], choices["codes"]) == ({"1": "nominal"}, {"0": ["z"]})
    assert (choices["left_out"], choices["missing"]) == ([2], "drop")
    assert [column["kind"] for column in state["table"]["columns"]] == ["binary", "nominal", "binary"]


def test_a_column_whose_kind_is_refused_is_left_out_again(client):
    rows = "".join(f"{k % 2},{k % 3 % 2},word{k}\n" for k in range(60))
    client.upload("a.csv", b"a,b,text\n" + rows.encode())
    assert client.wait(lambda state: state["table"])["choices"]["left_out"] == [2]
    assert client.choose({"kinds": {"2": "continuous"}, "left_out": []}) == 200
    state = client.wait(lambda state: state["problem"])
    assert (state["choices"]["kinds"], state["choices"]["left_out"]) == ({}, [2])


def test_a_choice_about_columns_that_have_moved_is_refused(client):
    rows = "".join(f"p{k},{k % 2},{k % 3},{k % 5}\n" for k in range(60))
    client.upload("a.csv", b"person,a,b,c\n" + rows.encode())
    before = client.wait(lambda state: state["table"])
    assert before["table"]["columns"][0]["name"] == "a"
    assert client.choose({"row_names": False}) == 200
    client.wait(lambda state: state["table"]["columns"][0]["name"] == "person")
    status, answer = client.post(f"choose/{before['layout']}", {"kinds": {"1": "nominal"}})  # b, which was at place 1
    assert (status, answer["error"]) == (400, "The columns have changed meanwhile. Choose again.")
    assert client.state()["choices"]["kinds"] == {}


def test_of_two_uploads_the_one_that_was_chosen_last_is_shown(client):
    slow = http.client.HTTPConnection("127.0.0.1", client.server.server_port, timeout=60)
    slow.putrequest("POST", client.address.path + "upload/first.csv")
    for name, value in {**client.own, "Content-Length": "12"}.items():
        slow.putheader(name, value)
    slow.endheaders(b"a,b\n")
    session = client.server.session
    while not session._openings:  # until its request has begun
        time.sleep(0.01)
    client.upload("second.csv", b"a,b\n0,1\n1,0\n")
    slow.send(b"0,1\n1,0\n")
    answer = slow.getresponse()
    assert (answer.status, b"first.csv" in answer.read()) == (400, True)
    assert client.wait(lambda state: state["table"])["file"] == "second.csv"
    assert [path.name for path in session.folder.rglob("*.csv")] == ["second.csv"]


def test_results_stay_until_a_new_fit_has_ended(client, mood):
    client.upload("mood.csv", mood)
    client.wait(lambda state: state["table"])
    client.choose({"left_out": [0], "missing": "drop"})
    client.post("run/fit")
    first = client.wait(lambda state: "fit" in state["results"])["results"]["fit"]["made"]
    edges = client.ask(where="files/mood/edges.csv")[1]
    client.choose({"left_out": [0, 1]})
    with client.server.session.jobs.changed:
        client.server.session.run("fit")
        number = client.server.session.jobs.jobs[-1].number
        client.server.session.jobs.stop(number)
    state = client.wait(is_idle)
    assert (state["results"]["fit"]["made"], state["stale"]) == (first, True)
    client.choose({"left_out": list(range(10))})  # one column: no network
    client.post("run/fit")
    state = client.wait(lambda state: any(job["state"] == "failed" for job in state["jobs"]))
    assert state["results"]["fit"]["made"] == first
    assert client.ask(where="files/mood/edges.csv")[1] == edges
    client.choose({"left_out": [0]})
    with client.server.session.jobs.changed:  # before the fit has ended
        client.server.session.run("fit")
        with pytest.raises(ValueError, match="Fit the network first"):  # the figure would be of the network before
            client.server.session.run("figure")
    state = client.wait(lambda state: state["results"]["fit"]["made"] != first)
    assert not state["stale"]
    assert client.ask(where="files/mood/edges.csv")[1] == edges  # of the same choices
    assert len(list(client.server.session.folder.rglob("edges.csv"))) == 1


def test_choices_are_added_to_those_for_which_the_table_is_read(client):
    client.upload("a.csv", b"a,b,c\n" + b"x,1,0\ny,2,1\nz,3,1\nx,1,1\n" * 20)
    client.wait(lambda state: state["table"])
    for changes in ({"codes": {"1": ["3"]}}, {"codes": {"1": ["3"], "0": ["z"]}}, {"left_out": [2]}):
        assert client.choose(changes) == 200
    assert client.state()["choices"]["codes"] == {"0": ["z"], "1": ["3"]}  # read or not
    assert client.post("run/fit")[0] == 200
    state = client.wait(lambda state: "fit" in state["results"])
    assert (state["stale"], state["choices"]["left_out"]) == (False, [2])


def test_a_file_that_is_no_table_says_why(client):
    client.upload("a.csv", b"<!doctype html><p>hello")
    state = client.wait(lambda state: state["problem"])
    assert "web page" in state["problem"]
    assert state["table"] is None
    assert client.post("run/fit")[0] == 400


def test_a_wrong_file_loses_no_result_and_stops_no_job(client, mood):
    client.upload("mood.csv", mood)
    client.wait(lambda state: state["table"])
    client.choose({"left_out": [0], "missing": "drop", "resamples": 5000})
    client.post("run/fit")
    before = client.wait(lambda state: "fit" in state["results"])
    edges = client.ask(where="files/mood/edges.csv")[1]
    client.upload("photo.png", b"\x89PNG\r\n\x1a\n\0\0\0\r")  # nothing runs
    client.wait(lambda state: state["problem"])
    client.post("run/bootstrap")
    state = client.wait(lambda state: any(job["count"] for job in state["jobs"] if job["kind"] == "bootstrap"))
    assert state["problem"] == ""
    client.upload("photo.png", b"\x89PNG\r\n\x1a\n\0\0\0\r")
    state = client.wait(lambda state: state["problem"])
    assert state["problem"].startswith("photo.png: ")
    assert [job["state"] for job in state["jobs"] if job["kind"] == "bootstrap"] == ["running"]
    assert {name: state[name] for name in ("file", "table", "choices", "results")} == {
        name: before[name] for name in ("file", "table", "choices", "results")
    }
    assert client.ask(where="files/mood/edges.csv")[1] == edges
    assert list(client.server.session.folder.rglob("photo.png")) == []
    client.upload("other.csv", b"a,b\n0,1\n1,0\n")  # a table does not wait for the bootstrap
    state = client.wait(lambda state: state["file"] == "other.csv")
    assert (state["results"], state["jobs"], state["problem"]) == ({}, [], "")
    assert len(list(client.server.session.folder.iterdir())) == 1


class Recorder:
    """Stands for the session's side of jobs."""

    def __init__(self):
        self.ended = []
        self.jobs = Jobs(self.ended.append)
        self.changed = self.jobs.changed

    def add(self, commands, folder):
        job = Job("fit", SimpleNamespace(commands=lambda kind: commands), folder)
        with self.changed:
            self.jobs.add(job)
        return job

    def wait(self, done, seconds=60):
        with self.changed:
            assert self.changed.wait_for(done, seconds)


@pytest.fixture
def recorder():
    found = Recorder()
    yield found
    found.jobs.close()


def test_one_job_at_a_time_and_a_stop_is_at_once(recorder, tmp_path, mood):
    (tmp_path / "mood.csv").write_bytes(mood)
    read = ["mood.csv", "--drop", "weight", "--encode", "auto", "--missing", "drop"]
    long = recorder.add([["bootstrap", *read, "-B", "5000", "-o", "long"]], tmp_path)
    short = recorder.add([["fit", *read, "-o", "net"]], tmp_path)
    late = recorder.add([["fit", *read, "-o", "late"]], tmp_path)
    recorder.wait(lambda: long.total == 5000 and long.count > 0)  # after the folds of the fit itself
    assert long.left > 0
    assert (short.state, late.state) == ("waiting", "waiting")
    with recorder.changed:
        recorder.jobs.stop(late.number)
        before = time.monotonic()
        recorder.jobs.stop(long.number)
    recorder.wait(lambda: short.state == "done")
    assert (long.state, late.state, short.error) == ("stopped", "stopped", "")
    assert sorted(path.name for path in tmp_path.iterdir() if not path.name.startswith(".")) == ["mood.csv", "net"]
    assert before < time.monotonic()
    assert recorder.ended == [short]


def test_a_worker_that_dies_fails_its_job_and_not_the_next(recorder, tmp_path, mood):
    (tmp_path / "mood.csv").write_bytes(mood)
    read = ["mood.csv", "--drop", "weight", "--encode", "auto", "--missing", "drop"]
    first = recorder.add([["bootstrap", *read, "-B", "5000"]], tmp_path)
    second = recorder.add([["fit", *read]], tmp_path)
    recorder.wait(lambda: first.total == 5000 and first.count > 0)
    recorder.jobs._worker.kill()
    recorder.wait(lambda: second.state == "done")
    assert first.state == "failed"
    assert "memory" in first.error


def test_a_failure_is_shown_until_the_job_is_tried_again(client):
    client.upload("a.csv", b"a,b,c\n" + b"0,1,x\n1,0,y\n1,1,\n" * 20)
    client.wait(lambda state: state["table"])
    client.choose({"groups": 2})
    client.post("run/fit")
    client.wait(lambda state: "fit" in state["results"])
    client.post("run/compare")  # groups are missing in some rows
    client.wait(lambda state: any(job["state"] == "failed" for job in state["jobs"]))
    client.choose({"figure": "centrality", "ending": "svg"})
    client.post("run/figure")
    state = client.wait(lambda state: "centrality.svg" in state["results"])
    assert [(job["kind"], job["state"]) for job in state["jobs"]] == [("compare", "failed"), ("figure", "done")]
    assert "“Groups to compare” must" in state["jobs"][0]["error"]
    assert "“Missing cells: leave out their rows”" in state["jobs"][0]["error"]
    client.choose({"missing": "drop"})
    client.post("run/fit")
    client.wait(is_idle)
    client.post("run/compare")
    state = client.wait(is_idle)
    assert [(job["kind"], job["state"]) for job in state["jobs"]] == [("compare", "done")]


def test_a_failing_command_says_what_it_said(recorder, tmp_path):
    (tmp_path / "a.csv").write_text("a,b\n0,1\n2,3\n")
    job = recorder.add([["fit", "a.csv"], ["fit", "never.csv"]], tmp_path)
    recorder.wait(lambda: job.state == "failed")
    assert "'a'" in job.error
    assert "never" not in job.error


@pytest.mark.skipif(not hasattr(os, "killpg"), reason="needs signals")
@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM])
def test_a_signal_ends_all_and_removes_the_files(tmp_path, mood, number):
    (tmp_path / "mood.csv").write_bytes(mood)
    place = tmp_path / "temporary"
    place.mkdir()
    words = ["app", "--no-browser", str(tmp_path / "mood.csv")]
    with subprocess.Popen(
        [sys.executable, "-m", "isinglass", *words],
        stdout=subprocess.PIPE,
        stderr=subprocess.DEVNULL,
        text=True,
        env={**os.environ, "TMPDIR": str(place)},
    ) as process:
        client = Client(type("Known", (), {"address": process.stdout.readline().strip()}))
        client.wait(lambda state: state["table"])
        client.post("run/fit")
        found = subprocess.run(["ps", "-o", "pid=", "--ppid", str(process.pid)], capture_output=True, text=True)
        children = [int(word) for word in found.stdout.split()]
        assert children
        process.send_signal(number)
        assert process.wait(30) == 128 + number
    assert list(place.iterdir()) == []
    for child in children:
        with pytest.raises(ProcessLookupError):
            os.kill(child, 0)


def test_a_port_that_is_taken_is_an_error(server):
    from commands import error_line, run

    assert "--port" in error_line(run("app", "--no-browser", "--port", server.server_port, code=2))
